/** The text of a state. Times are relative to the clock, and beyond `farMs` differ no more. */
export function textOf(value: unknown, nowMs: number, farMs: number, name = ""): string {
  if (typeof value === "number" && (name.endsWith("Ms") || (name === "strikes" && value > 1_000)))
    return String(Math.max(-farMs, Math.min(farMs, (name === "strikes" ? value * 1000 : value) - nowMs)));
  if (typeof value === "string" && value.startsWith("ban_")) return "ban";
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each, nowMs, farMs, name)).join()}]`;
  let text = "{";
  for (const [key, each] of Object.entries(value))
    if (key !== "loaded" && key !== "nowMs") text += `${key}:${textOf(each, nowMs, farMs, key)},`;
  return `${text}}`;
}

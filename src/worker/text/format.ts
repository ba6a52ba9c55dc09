/** Numbers, times and durations as text for people, in English and UTC. Pure: the time is a parameter. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Adds thousands separators. */
export function formatNumber(value: number | bigint): string {
  return value.toLocaleString("en");
}

/** `1.2 M`, `500`. */
export function formatShort(value: number): string {
  return value.toLocaleString("en", { notation: "compact" }).replace(/(?=[A-Z])/, "\u00a0");
}

/** `1 key`, `2 keys`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/** Shows one decimal below 10 %. A part is never 0 %, and only the whole is 100 %. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  if (percent < 10) return `${Math.round(percent * 10) / 10} %`;
  return `${percent < 100 ? Math.min(Math.round(percent), 99) : Math.round(percent)} %`;
}

/** The UTC day: `24 Nov 2026` */
export function formatDay(iso: string): string {
  return new Date(iso).toLocaleDateString("en-GB", { timeZone: "UTC", dateStyle: "medium" });
}

/** `24 Nov 2026, 10:42 UTC` */
export function formatTime(iso: string): string {
  return `${formatDay(iso)}, ${new Date(iso).toISOString().slice(11, 16)} UTC`;
}

/** The two largest units: `2 d 4 h`, `3 h 12 min`, `4 min 05 s`, `45 s`. A second unit of 0 is left out. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const inUnits = (large: number, name: string, small: number, smallName: string, width = 1) => {
    const rest = Math.floor((whole % large) / small);
    const more = rest === 0 ? "" : ` ${String(rest).padStart(width, "0")} ${smallName}`;
    return `${Math.floor(whole / large)} ${name}${more}`;
  };
  if (whole >= DAY) return inUnits(DAY, "d", HOUR, "h");
  if (whole >= HOUR) return inUnits(HOUR, "h", MINUTE, "min");
  if (whole >= MINUTE) return inUnits(MINUTE, "min", 1, "s", 2);
  return `${whole} s`;
}

/** `in 6 days`, `in 3 h 12 min`, `4 min 05 s ago`. */
export function formatRelative(iso: string, nowMs: number): string {
  const seconds = (Date.parse(iso) - nowMs) / 1000;
  const [days, left] = [Math.floor(Math.abs(seconds) / DAY), Math.abs(seconds)];
  const duration = days >= 2 ? counted(days, "day") : formatDuration(left);
  return seconds > 0 ? `in ${duration}` : `${duration} ago`;
}

/** As `formatRelative`, or `then` once the time has come. */
export function relativeTo(nowMs: number, iso: string, then: string): string {
  return then !== "" && Date.parse(iso) <= nowMs ? then : formatRelative(iso, nowMs);
}

/** The name of the plan with this id: `Pro`. Sentences and pages name plans, calls and options have ids. */
export function planName(id: string): string {
  return capital(id);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

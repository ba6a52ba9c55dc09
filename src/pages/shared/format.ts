/** Numbers, times and durations as text for people. Pure: the present time is a parameter. */

/** `undefined` stands for the reader's own language. */
type Locale = string | undefined;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** With thousands separators. */
export function formatNumber(value: number, locale?: Locale): string {
  return value.toLocaleString(locale);
}

/** `1 key`, `2 keys`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/** Never 0 % of something, and 100 % only of all. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 1) return "< 1 %";
  return `${percent < 100 ? Math.min(Math.round(percent), 99) : Math.round(percent)} %`;
}

/** Local time, without seconds. */
export function formatTime(iso: string, locale?: Locale): string {
  return new Date(iso).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

/** `2026-11-21 14:58:47 UTC` */
export function formatUtc(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A day of the service, which is a UTC day. */
export function formatDay(day: string, locale?: Locale): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(locale, {
    timeZone: "UTC",
    day: "numeric",
    month: "short",
  });
}

/** The beginning of an hour, in local time. */
export function formatHour(iso: string, locale?: Locale): string {
  return new Date(iso).toLocaleTimeString(locale, { hour: "numeric", minute: "2-digit" });
}

/** The two largest units: `2 d 4 h`, `3 h 12 min`, `4 min 05 s`, `45 s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole >= DAY) return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`;
  if (whole >= HOUR) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
  if (whole >= MINUTE)
    return `${Math.floor(whole / MINUTE)} min ${String(whole % MINUTE).padStart(2, "0")} s`;
  return `${whole} s`;
}

/** `in 3 h 12 min`, `4 min 05 s ago`. */
export function formatRelative(iso: string, nowMs: number): string {
  const seconds = (Date.parse(iso) - nowMs) / 1000;
  return seconds > 0 ? `in ${formatDuration(seconds)}` : `${formatDuration(-seconds)} ago`;
}

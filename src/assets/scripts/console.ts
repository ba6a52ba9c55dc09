/** What the console's pages have beyond HTML: charts, copy buttons, times that are kept up to date, suggestions, and the key `/`. */
import { drawCharts } from "./chart.ts";

/** Over plain HTTP, browsers have no clipboard for scripts. */
function addCopyButtons(): void {
  if (!isSecureContext) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copy ?? "")?.textContent ?? "";
      await navigator.clipboard.writeText(text.trim());
      button.textContent = "Copied";
    });
  }
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** As the server writes it. */
function durationOf(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole >= DAY) return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`;
  if (whole >= HOUR) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
  if (whole >= MINUTE)
    return `${Math.floor(whole / MINUTE)} min ${String(whole % MINUTE).padStart(2, "0")} s`;
  return `${whole} s`;
}

function keepTimes(): void {
  const times = document.querySelectorAll<HTMLTimeElement>("time[data-relative]");
  if (times.length === 0) return;
  setInterval(() => {
    for (const time of times) {
      const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000;
      time.textContent = seconds > 0 ? `in ${durationOf(seconds)}` : `${durationOf(-seconds)} ago`;
    }
  }, 1_000);
}

const PAUSE_MS = 200;

type Suggestion = { readonly name: string; readonly owner: string };

/** A secret is not sent while it is typed: the address of a request can be logged. */
function suggestKeys(field: HTMLInputElement, list: HTMLElement): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = async () => {
    const text = field.value.trim();
    if (text.length < 2 || text.includes("sok_")) return;
    const response = await fetch(`/console/suggestions?text=${encodeURIComponent(text)}`);
    if (!response.ok) return;
    const found: Suggestion[] = await response.json();
    list.replaceChildren(...found.map(({ name, owner }) => new Option(owner, name)));
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void show(), PAUSE_MS);
  });
}

function focusOnSlash(field: HTMLInputElement): void {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    field.focus();
  });
}

addCopyButtons();
keepTimes();
drawCharts();
const field = document.querySelector<HTMLInputElement>(".bar input[type=search]");
const list = document.getElementById("suggestions");
if (field && list) {
  suggestKeys(field, list);
  focusOnSlash(field);
}

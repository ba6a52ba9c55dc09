/** What scripts add to the pages: copy buttons, counted ticks, times, a key that leads to the field that finds. */
import { counted, relativeTo } from "../../worker/text/format.ts";

/** Over plain HTTP, browsers have no clipboard for scripts. */
function addCopyButtons(): void {
  if (!isSecureContext) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copy ?? "")?.textContent ?? "";
      await navigator.clipboard.writeText(text.trim());
      button.textContent = "Copied";
      if (button.dataset.copy === "secret") removeEventListener("beforeunload", askFirst);
    });
  }
}

/** The browser asks whether to leave a page with a secret that was not copied. */
function askBeforeLeaving(secret: HTMLElement): void {
  addEventListener("beforeunload", askFirst);
  document.addEventListener("copy", () => {
    if (getSelection()?.containsNode(secret, true)) removeEventListener("beforeunload", askFirst);
  });
}

function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function keepTimes(): void {
  setInterval(() => {
    for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-relative]")) {
      time.textContent = relativeTo(Date.now(), time.dateTime, time.dataset.relative ?? "");
    }
  }, 1_000);
}

/** A part that is seen asks again every so often, and when a time in it has come, such as the end of a ban. */
function keepLive(part: HTMLElement): void {
  let askedMs = Date.now();
  const isOver = ({ dateTime }: HTMLTimeElement) =>
    Date.parse(dateTime) > askedMs && Date.parse(dateTime) <= Date.now();
  const ask = async () => {
    askedMs = Date.now();
    const address = new URL(location.href);
    address.searchParams.set("live", "yes"); // keeps no session alive
    const response = await fetch(address).catch(() => undefined);
    // Where the service does not answer, or the session has ended, the part says of when it is.
    if (response?.ok) replaceChanged(part, await response.text());
  };
  setInterval(() => {
    const times = [...part.querySelectorAll<HTMLTimeElement>("time[data-relative]")];
    const isDue = Date.now() - askedMs >= 1_000 * Number(part.dataset.live) || times.some(isOver);
    if (isDue && !document.hidden && !part.contains(document.activeElement)) void ask();
  }, 1_000);
}

/** What is as it was stays, so that a screen reader says only what is new. Times that count down are no news. */
function replaceChanged(part: HTMLElement, html: string): void {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("[data-live]");
  if (!fresh) return;
  addLocalTimes(fresh);
  const newsOf = (element: Element) =>
    element.outerHTML.replace(/(<time[^>]*data-relative[^>]*>)[^<]*/g, "$1");
  const old = new Map([...part.children].map((element) => [newsOf(element), element]));
  part.replaceChildren(...[...fresh.children].map((element) => old.get(newsOf(element)) ?? element));
}

/** A text says how many rows are ticked. */
function countTicks(form: HTMLFormElement): void {
  const all = form.querySelector<HTMLInputElement>("[data-tick-all]");
  const matching = form.querySelector<HTMLInputElement>("[name=all]");
  const text = form.querySelector<HTMLElement>("[data-ticked]");
  const boxes = [...form.querySelectorAll<HTMLInputElement>("tbody input[type=checkbox]:enabled")];
  if (!all || !text) return;
  const { noun = "row" } = form.dataset;
  const { ticked: verb } = text.dataset;
  const none = text.textContent;
  const show = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
    text.textContent = matching?.checked
      ? `${verb} all that match`
      : ticked === 0
        ? none
        : `${verb} ${counted(ticked, noun)}`;
  };
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  tickRanges(boxes);
  form.addEventListener("change", show);
  addEventListener("pageshow", show); // a browser that goes back restores the ticks
  all.closest("label")?.removeAttribute("hidden");
}

/** A click with Shift gives every box since the last click the state of the clicked box. */
function tickRanges(boxes: readonly HTMLInputElement[]): void {
  let last: number | undefined;
  for (const [i, box] of boxes.entries()) {
    box.addEventListener("click", ({ shiftKey }) => {
      const [from, to] = shiftKey && last !== undefined ? [Math.min(last, i), Math.max(last, i)] : [i, i];
      for (const each of boxes.slice(from, to + 1)) each.checked = box.checked;
      last = i;
    });
  }
}

/** A browser forgets a chosen file with its page: what a check says stands below the form, which keeps the file. */
function checkBelow(form: HTMLFormElement, below: HTMLElement): void {
  form.addEventListener("submit", async (event) => {
    if (event.submitter?.getAttribute("name") !== "dry-run") return;
    event.preventDefault();
    below.textContent = "The file is being checked …";
    const body = new FormData(form, event.submitter);
    const response = await fetch(form.action, { method: "POST", body }).catch(() => undefined);
    const html = (await response?.text().catch(() => undefined)) ?? "";
    const answer = new DOMParser().parseFromString(html, "text/html").querySelector("main");
    if (answer) below.replaceChildren(...answer.children);
    else below.textContent = "The file could not be checked: the service did not answer.";
  });
}

/** The text of a page is in UTC. */
function addLocalTimes(within: ParentNode): void {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  for (const time of within.querySelectorAll("time")) {
    if (timeZone === "UTC" || !time.dateTime.includes("T")) continue;
    const local = new Date(time.dateTime).toLocaleString("en-GB", {
      dateStyle: "medium",
      timeStyle: "short",
    });
    time.title = [time.title, `${local} ${timeZone}`].filter((text) => text !== "").join("\n");
  }
}

/** `/` leads to the field that finds. */
function findBySlash(event: KeyboardEvent): void {
  const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
  // The page of an owner, and the form for signing in, have no such link.
  const link = document.querySelector<HTMLElement>('.bar [href="/console/find"]');
  if (event.key !== "/" || isTyping || !link) return;
  event.preventDefault();
  link.click();
}

addCopyButtons();
const secret = document.getElementById("secret");
if (secret) askBeforeLeaving(secret);
keepTimes();
addLocalTimes(document);
const live = document.querySelector<HTMLElement>("[data-live]");
if (live) keepLive(live);
for (const form of document.querySelectorAll<HTMLFormElement>(".ticks")) countTicks(form);
const below = document.querySelector<HTMLElement>("[data-below]");
const upload = document.querySelector<HTMLFormElement>("form:has([type=file])");
if (upload && below) checkBelow(upload, below);
document.addEventListener("keydown", findBySlash);

/** What scripts add to the pages: copy buttons, counted ticks, times, the field that finds. */
import { counted, formatRelative } from "../../worker/text/format.ts";
import { type Found, findWhileTyping, whileTyping } from "./find.ts";

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

/** On a phone the navigation scrolls. After `scrollIntoView` the Tab key would begin there. */
function showWhereOneIs(): void {
  const nav = document.querySelector(".bar nav");
  const link = nav?.querySelector("[aria-current]")?.getBoundingClientRect();
  if (!nav || !link) return;
  const { left, width } = nav.getBoundingClientRect();
  nav.scrollLeft += link.left + link.width / 2 - (left + width / 2);
}

function keepTimes(): void {
  const times = document.querySelectorAll<HTMLTimeElement>("time[data-relative]");
  if (times.length === 0) return;
  setInterval(() => {
    for (const time of times) {
      time.textContent = formatRelative(time.dateTime, Date.now());
    }
  }, 1_000);
}

/** A text says how many rows are ticked. */
function countTicks(form: HTMLFormElement): void {
  const all = form.querySelector<HTMLInputElement>("[data-tick-all]");
  const matching = form.querySelector<HTMLInputElement>("[name=all]");
  const text = form.querySelector<HTMLElement>("[data-ticked]");
  const boxes = [...form.querySelectorAll<HTMLInputElement>("tbody input[type=checkbox]:enabled")];
  if (!all || !text) return;
  const { noun = "row" } = form.dataset;
  const { ticked: verb, none = text.textContent } = text.dataset;
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

/** The text of a page is in UTC. */
function addLocalTimes(): void {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  for (const time of document.querySelectorAll("time")) {
    if (timeZone === "UTC" || !time.dateTime.includes("T")) continue;
    const local = new Date(time.dateTime).toLocaleString("en-GB", {
      dateStyle: "medium",
      timeStyle: "short",
    });
    time.title = [time.title, `${local} ${timeZone}`].filter((text) => text !== "").join("\n");
  }
}

/** A plan without a limit demands that of the key: the choice has the names of the fields. */
function markDemanded(choice: HTMLSelectElement): void {
  const demands: Record<string, string[]> = JSON.parse(choice.dataset.demands ?? "{}");
  const show = () => {
    for (const name of new Set(Object.values(demands).flat())) {
      const field = choice.form?.elements.namedItem(name);
      if (!(field instanceof HTMLInputElement)) continue;
      field.required = demands[choice.value]?.includes(name) ?? false;
      field.removeAttribute("aria-required");
    }
  };
  choice.addEventListener("change", show);
  addEventListener("pageshow", show); // a browser that goes back restores the choice
}

/** Suggests the customers whose names have the text. */
function suggestCustomers(list: HTMLElement): (found: readonly Found[]) => void {
  return (found) => {
    const customers = found.filter(({ kind }) => kind === "customer");
    // The page has suggestions of its own until then.
    if (customers.length > 0)
      list.replaceChildren(...customers.map(({ name, detail }) => new Option(detail, name)));
  };
}

showWhereOneIs();
addCopyButtons();
const secret = document.getElementById("secret");
if (secret) askBeforeLeaving(secret);
keepTimes();
addLocalTimes();
for (const form of document.querySelectorAll<HTMLFormElement>(".ticks")) countTicks(form);
const choice = document.querySelector<HTMLSelectElement>("[data-demands]");
if (choice) markDemanded(choice);
for (const field of document.querySelectorAll<HTMLInputElement>("input[name=customer], input[name=into]"))
  if (field.list) whileTyping(field, suggestCustomers(field.list));
findWhileTyping();

/** The names of the windows of a customer, which stand beside those of its keys in headers and usage. */
export const CUSTOMER_WINDOWS = { minute: "customer-minute", day: "customer-day" } as const;

/** `per day`, `per day of all keys together` */
export function windowInWords(name: string): string {
  const window = Object.entries(CUSTOMER_WINDOWS).find(([, each]) => each === name);
  return window ? `per ${window[0]} of all keys together` : `per ${name}`;
}

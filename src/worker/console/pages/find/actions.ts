/** What one can do, and where. *Find* finds it by these words. */

type FoundAction = readonly [name: string, words: string, address: string];

const ACTIONS: readonly FoundAction[] = [
  ["Create a key", "create new key onboard", "/keys/new"],
  ["Create a customer", "create new customer onboard", "/customers/new"],
  ["Revoke, disable or enable keys", "revoke disable enable delete remove offboard", "/keys"],
  [
    "A secret has leaked: open its key, rotate it, read its day",
    "rotate secret leak leaked stolen github",
    "/keys",
  ],
  ["Lift a ban: the banned keys", "ban banned lift unban blocked", "/keys?status=banned"],
  [
    "The keys with the most refusals of today",
    "429 refused refusals too many requests",
    "/usage?sort=refused",
  ],
  ["When requests were refused", "429 refused refusals hours when", "/usage?by=hour&from=29d"],
  ["Change the limits of a plan", "plan plans limit limits quota", "/plans"],
  ["Alerts, and their webhook", "webhook alert alerts slack notify notification", "/alerts"],
  ["Keys that expire", "expire expires expiry expiring", "/keys?status=usable&sort=expiry"],
  ["Keys that nobody uses", "unused inactive last used", "/keys?unusedSince=90d"],
  ["Links for owners: open the customer", "owner link links share", "/customers"],
  ["Report of a month: open the customer", "report month invoice bill export", "/customers"],
  ["Load orders from a file", "load import upload csv file orders", "/orders/load"],
  ["Cancelled orders", "cancelled canceled vanished lost order orders", "/orders/cancelled"],
  ["Sign out a colleague", "sign out session sessions signed logout colleague", "/sessions"],
  ["What operators changed, and undo", "undo audit changed change history who", "/audit"],
];

/** Each word of the text must begin a word of the action. */
export function actionsFor(text: string): readonly FoundAction[] {
  const sought = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (sought.join("").length < 3) return [];
  return ACTIONS.filter(([, words]) => {
    const known = words.split(" ");
    return sought.every((each) => known.some((word) => word.startsWith(each)));
  });
}

/** What one can do, and where. *Find* finds it by these words. */
import { addressOf } from "../../kit/forms.ts";

type FoundAction = { readonly name: string; readonly words: string; readonly href: string };

const ACTIONS: readonly FoundAction[] = [
  { name: "Create a key", words: "create new key onboard", href: "/console/keys/new" },
  { name: "Create a customer", words: "create new customer onboard", href: "/console/customers/new" },
  {
    name: "Revoke, disable or enable keys: tick them, or open one",
    words: "revoke disable enable delete remove offboard",
    href: "/console/keys",
  },
  {
    name: "Rotate a secret that has leaked: paste it into Find, or open its key",
    words: "rotate secret leak leaked stolen github",
    href: "/console/keys",
  },
  {
    name: "Lift a ban: the banned keys",
    words: "ban banned lift unban blocked",
    href: "/console/keys?status=banned",
  },
  {
    name: "Refused requests: the keys with the most of today",
    words: "429 refused refusals too many requests 403 limit",
    href: addressOf("/console/usage", { sort: "refused" }),
  },
  {
    name: "When requests were refused, by hour",
    words: "429 refused refusals heat hours when",
    href: addressOf("/console/usage", { by: "hour", from: "29d" }),
  },
  { name: "Change the limits of a plan", words: "plan plans limit limits quota", href: "/console/plans" },
  {
    name: "Alerts, and their webhook",
    words: "webhook alert alerts slack notify notification",
    href: "/console/alerts",
  },
  {
    name: "Keys that expire",
    words: "expire expires expiry expiring",
    href: addressOf("/console/keys", { status: "usable", sort: "expiry" }),
  },
  {
    name: "Keys that nobody uses",
    words: "unused inactive last used",
    href: addressOf("/console/keys", { unusedSince: "90d" }),
  },
  {
    name: "Links for owners: open the customer",
    words: "owner link links share",
    href: "/console/customers",
  },
  {
    name: "Report of a month: open the customer",
    words: "report month invoice bill export",
    href: "/console/customers",
  },
  {
    name: "Load orders from a file",
    words: "load import upload csv file orders",
    href: "/console/orders/load",
  },
  {
    name: "Cancelled orders",
    words: "cancelled canceled vanished lost order orders",
    href: "/console/orders/cancelled",
  },
  {
    name: "Sign out a colleague: who is signed in",
    words: "sign out session sessions signed logout colleague",
    href: "/console/sessions",
  },
  {
    name: "What operators changed, and undo",
    words: "undo audit changed change history who",
    href: "/console/audit",
  },
];

/** Each word of the text must begin a word of the action. */
export function actionsFor(text: string): readonly FoundAction[] {
  const sought = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (sought.join("").length < 3) return [];
  return ACTIONS.filter(({ words }) => {
    const known = words.split(" ");
    return sought.every((each) => known.some((word) => word.startsWith(each)));
  });
}

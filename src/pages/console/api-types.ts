/** What the admin API returns, derived from the types of its routes. */
import type { InferResponseType } from "hono/client";
import type { AdminClient } from "./admin-client.ts";

export type KeyPage = InferResponseType<AdminClient["keys"]["$get"]>;
export type KeyView = KeyPage["keys"][number];
export type KeyStatus = KeyView["status"];
export type LiveUsage = InferResponseType<AdminClient["keys"][":id"]["$get"]>["live"];

export type BanView = InferResponseType<AdminClient["bans"]["$get"]>["bans"][number];
export type PlanView = InferResponseType<AdminClient["plans"]["$get"]>["plans"][number];
export type AuditEntry = InferResponseType<AdminClient["audit"]["$get"]>["audit"][number];
export type UsageOfDay = InferResponseType<AdminClient["usage"]["$get"]>;
export type UsageOfKey = InferResponseType<AdminClient["keys"][":id"]["usage"]["$get"]>;
export type KeyHistoryView = InferResponseType<AdminClient["keys"][":id"]["history"]["$get"]>;
export type DayFigures = UsageOfKey["days"][number];
export type HourFigures = UsageOfKey["hours"][number];
export type ImportView = InferResponseType<AdminClient["orders"]["imports"]["$get"]>["imports"][number];

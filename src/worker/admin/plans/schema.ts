/** Bodies of `/admin/plans`. */
import * as v from "valibot";
import { limits } from "../http/schemas.ts";

export const planUpdate = v.strictObject(limits);

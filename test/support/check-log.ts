/** Setup of the e2e project: after each test file, checks what the shared service has logged. */
import { afterAll } from "vitest";
import { checkSharedLog } from "./service.ts";

afterAll(checkSharedLog);

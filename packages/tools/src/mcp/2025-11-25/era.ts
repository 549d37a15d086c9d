import type { Era } from "../served.ts";
import { answer } from "./answer.ts";
import { ownMethods } from "./methods.ts";
import { faultOf } from "./results.ts";

/** The revision that begins with a handshake, and those before it. */
export const olderEra: Era = { revision: "2025-11-25", ownMethods, answer, faultOf };

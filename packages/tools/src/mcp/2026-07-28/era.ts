import type { Era } from "../served.ts";
import { answer } from "./answer.ts";
import { ownMethods } from "./methods.ts";
import { faultOf } from "./results.ts";

/** The revision in which every request stands for itself. */
export const newerEra: Era = {
  revision: "2026-07-28",
  ownMethods,
  answer,
  faultOf: (error, id) => faultOf(error, id === undefined ? {} : { id }),
};

import type { AccessClass } from "../schema/words.ts";
import { asWritten, documentType } from "./document.ts";

/** `jobs.estimate`: the bounds of a program, in the words of the message Estimate. */
export type EstimateDocument = {
  readonly callsMin: number;
  readonly callsMax: number;
  readonly writesMax: number;
  readonly destructiveMax: number;
  readonly rowsMax: number;
  readonly asksMax: number;
  readonly accessClasses: readonly AccessClass[];
  readonly toolkits: readonly string[];
  readonly entities: readonly string[];
  readonly notCompensable: readonly string[];
};

/** How `jobs.estimate` is stored. */
export const estimateDocument = documentType<EstimateDocument>("jobs.estimate", [asWritten]);

import type { AccessClass } from "../schema/words.ts";
import { asWritten } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";

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

/** The fields of an estimate as they are packed. */
export const estimateFields: PackedFields<EstimateDocument> = {
  callsMin: true,
  callsMax: true,
  writesMax: true,
  destructiveMax: true,
  rowsMax: true,
  asksMax: true,
  accessClasses: true,
  toolkits: true,
  entities: true,
  notCompensable: true,
};

/** How `jobs.estimate` is stored. */
export const estimateDocument = packedDocument<EstimateDocument>("jobs.estimate", [asWritten], estimateFields);

/** The same of a version of a standing program: `standing_versions.estimate`. */
export const standingEstimateDocument = packedDocument<EstimateDocument>(
  "standing_versions.estimate",
  [asWritten],
  estimateFields,
);

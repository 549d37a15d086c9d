import type { ShapeReader } from "@svc/program";
import type { Search } from "../schedule/read.ts";
import type { StandingFaults } from "./faults.ts";

/** What a source is read with. */
export type SourceReading = {
  readonly reader: ShapeReader;
  readonly faults: StandingFaults;
  readonly timeZone: string;
  /** Undefined for one that is stored. */
  readonly search: Search | undefined;
};

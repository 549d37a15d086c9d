import type { PreviewStandingProgramResponse } from "@svc/gen/standing";
import type { PlacedDraftFaults } from "./draft-faults.ts";

/** The service's check of a definition. */
export type ScheduleCheck = {
  /** The definition that was checked, as it would be sent. */
  definitionJson: string;
  /** Answer of the preview call. Undefined before the first answer, and while the definition has errors. */
  preview: PreviewStandingProgramResponse | undefined;
  faults: PlacedDraftFaults;
  /** True if the check is about the current text. */
  isCurrent: boolean;
  /** Error of the check call itself; null if there is none. */
  error: unknown;
  retry: () => void;
};

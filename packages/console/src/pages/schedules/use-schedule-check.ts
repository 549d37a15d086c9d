import type { PreviewStandingProgramResponse } from "@svc/gen/standing";
import type { PlacedDraftFaults } from "./draft-faults.ts";

/** What the service says of what is written. */
export type ScheduleCheck = {
  /** The definition that is written now, as it would be sent. */
  definitionJson: string;
  /** Undefined before the first answer, and while there are faults. */
  preview: PreviewStandingProgramResponse | undefined;
  faults: PlacedDraftFaults;
  /** Whether it is about what is written now. */
  isCurrent: boolean;
  /** What the check itself failed with; null for nothing. */
  error: unknown;
  retry: () => void;
};

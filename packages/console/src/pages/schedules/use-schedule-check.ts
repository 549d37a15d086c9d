import type { PreviewStandingProgramResponse } from "@svc/gen/standing";
import type { PlacedDraftFaults } from "./draft-faults.ts";

/** The result of the service's check of the schedule's definition that the user is editing. */
export type ScheduleCheck = {
  /** The schedule's definition that was checked, as JSON text. The form would send this text. */
  definitionJson: string;
  /** Answer of the preview call. Undefined before the first answer, and while the schedule's definition has errors. */
  preview: PreviewStandingProgramResponse | undefined;
  faults: PlacedDraftFaults;
  /** True if the check is about the current text of the schedule's definition. */
  isCurrent: boolean;
  /**
   * Error of the preview call itself, for example if the service is unavailable. Null if the call succeeded. Errors in the schedule's
   * definition are not among these.
   */
  error: unknown;
  retry: () => void;
};

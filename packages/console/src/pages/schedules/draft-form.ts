import type { Draft } from "./draft.ts";
import type { DraftField } from "./draft-faults.ts";

/** The state that all input fields of the schedule form share: the draft of the schedule, and the function that changes it. */
export type DraftForm = {
  draft: Draft;
  change: (to: Partial<Draft>) => void;
  /** Returns the properties of a labelled input: label, value, error, and change handler. */
  fieldOf: (
    name: DraftField,
    label: string,
  ) => {
    label: string;
    value: string;
    fault: string | undefined;
    onChange: (value: string) => void;
  };
};

import type { Draft } from "./draft.ts";
import type { DraftField } from "./draft-faults.ts";

/** Properties that the fields of a draft share. */
export type DraftForm = {
  draft: Draft;
  change: (to: Partial<Draft>) => void;
  /** Returns the properties of a labelled input: label, value, fault, and change handler. */
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

import type { Draft } from "./draft.ts";
import type { DraftField } from "./draft-faults.ts";

/** What fields of a draft are drawn with. */
export type DraftForm = {
  draft: Draft;
  change: (to: Partial<Draft>) => void;
  /** Label, value, fault, and how it is changed: what every labelled input takes. */
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

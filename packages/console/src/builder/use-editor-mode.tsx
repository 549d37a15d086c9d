import { type ReactNode, Suspense, useMemo, useRef, useState } from "react";
import { Button } from "../ui/buttons/button.tsx";
import type { JsonWriteHandle } from "../ui/code/json-write.tsx";
import { Segments } from "../ui/fields/chip-fields.tsx";
import { laterPart } from "../ui/later-part.tsx";
import { Section } from "../ui/layout/section.tsx";
import { Skeleton } from "../ui/notice/empty.tsx";
import type { PlacedFault } from "../words/placed-faults.ts";
import type { Document } from "./document.ts";

const JsonWrite = laterPart(() => import("../ui/code/json-write.tsx"));

/** The two ways to edit a document: with a form (the builder), or as JSON. */
type EditorMode = {
  /** The choice of the way, and the button that undoes a change of the form. */
  readonly controls: ReactNode;
  /** The text editor. Undefined while the form is shown. */
  readonly text: ReactNode | undefined;
  /** Shows the text editor with the cursor at an offset of the text. */
  readonly goTo: (offset: number) => void;
};

/**
 * Returns the controls and the content of an editor that shows a document either as a form or as text. Both change the same text. `label`:
 * name of the document. `faults`: errors, which the text editor marks.
 */
export function useEditorMode(document: Document, label: string, faults: readonly PlacedFault[]): EditorMode {
  const { text, root, undo } = document;
  // The text with which the text editor started, while it is shown. The editor then keeps its text itself.
  const [started, setStarted] = useState<string>();
  const editor = useRef<JsonWriteHandle>(null);
  const marks = useMemo(() => faults.map(({ mark }) => mark), [faults]);
  const isText = started !== undefined;
  return {
    controls: (
      <>
        {!isText && (
          <Button icon="replay" why={undo === undefined ? "Nothing to undo" : undefined} onPress={() => undo?.()}>
            Undo
          </Button>
        )}
        <Segments
          label="Edit as"
          value={isText ? "json" : "builder"}
          options={[
            { value: "builder", words: "Builder" },
            { value: "json", words: "JSON" },
          ]}
          onChange={(mode) => {
            if (mode === "json") setStarted(text);
            // A text that is not JSON has no form. It stays in the text editor until it is JSON again.
            else if (root !== undefined) setStarted(undefined);
          }}
        />
      </>
    ),
    text: isText ? (
      <Section title={label}>
        <Suspense fallback={<Skeleton rows={12} />}>
          <JsonWrite
            initial={started}
            label={label}
            marks={marks}
            onChange={(to) => document.change("/", () => to)}
            handle={editor}
          />
        </Suspense>
      </Section>
    ) : undefined,
    goTo: (offset) => {
      if (isText) editor.current?.goTo(offset);
      else setStarted(text);
    },
  };
}

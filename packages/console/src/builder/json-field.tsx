import { useState } from "react";
import { findPart } from "../json/locate.ts";
import { setText } from "../json/patch.ts";
import { readObject } from "../json/value.ts";
import { AreaField } from "../ui/fields/field.tsx";
import type { Document } from "./document.ts";

/**
 * A field for a value of a document that no other field knows. It shows the value's own characters. A text that is not JSON stays in the
 * field until it is. An empty text removes the value.
 */
export function JsonField({
  document,
  pointer,
  label,
  hint,
  fault,
}: {
  document: Document;
  pointer: string;
  label: string;
  hint?: string;
  fault?: string | undefined;
}) {
  const [typed, setTyped] = useState<string>();
  const part = findPart(document.text, pointer);
  const written = part === undefined ? "" : outdented(document.text.slice(part.value, part.to));
  return (
    <AreaField
      label={label}
      mono
      hint={hint}
      value={typed ?? written}
      fault={typed === undefined ? fault : "Not JSON yet. The value before it stays in use."}
      onChange={(text) => {
        const isJson = readObject(`{"value":${text}}`) !== undefined;
        setTyped(isJson || text.trim() === "" ? undefined : text);
        if (text.trim() === "") document.set(pointer, undefined);
        else if (isJson) document.change(pointer, (old) => setText(old, pointer, text));
      }}
    />
  );
}

/** Returns JSON text without the indentation that all of its lines but the first share. */
function outdented(text: string): string {
  const [first = "", ...lines] = text.split("\n");
  const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return [first, ...lines.map((line) => line.slice(indent))].join("\n");
}

import { parseExactJson } from "@svc/core/exact-json";
import { useState } from "react";
import { findPart } from "../json/locate.ts";
import { setText } from "../json/patch.ts";
import { AreaField } from "../ui/fields/field.tsx";
import type { Document } from "./document.ts";

/**
 * Draws a text field for a JSON value of a document that has no form field of its own. It shows the value as it is written. While the typed
 * text is not valid JSON, it stays in the field only. An empty text removes the value, unless the value is required.
 */
export function JsonField({
  document,
  pointer,
  label,
  hint,
  fault,
  isRequired = false,
}: {
  document: Document;
  pointer: string;
  label: string;
  hint?: string;
  fault?: string | undefined;
  isRequired?: boolean;
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
        const value = text.trim();
        const isRemoved = value === "" && !isRequired;
        setTyped(isRemoved || isJson(value) ? undefined : text);
        if (isRemoved) document.set(pointer, undefined);
        else if (isJson(value)) document.change(pointer, (old) => setText(old, pointer, value));
      }}
    />
  );
}

/** True if the text is one JSON value, and nothing else. */
function isJson(text: string): boolean {
  try {
    parseExactJson(text);
    return true;
  } catch {
    // The user is still typing the text.
    return false;
  }
}

/** Returns JSON text without the indentation that all of its lines but the first share. */
function outdented(text: string): string {
  const [first = "", ...lines] = text.split("\n");
  const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return [first, ...lines.map((line) => line.slice(indent))].join("\n");
}

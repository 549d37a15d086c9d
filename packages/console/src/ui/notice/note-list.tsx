import { pageWords } from "../../words/page-words.ts";
import { Notice } from "./notice.tsx";

/** What a document may not mean, each with where it stands and what to do. Nothing where there is no note. */
export function NoteList({
  notes,
}: {
  notes: readonly {
    readonly field: string;
    readonly reason: string;
    readonly message: string;
    readonly help: string;
  }[];
}) {
  if (notes.length === 0) return null;
  return (
    <Notice tone="warn" title={`${notes.length} ${notes.length === 1 ? "thing" : "things"} to know before it runs`}>
      <ul>
        {notes.map(({ field, reason, message, help }) => (
          <li key={`${field} ${reason} ${message}`}>
            {field.replace(/^(?:program|definition)Json/, "")} {message}. If that is not meant: {pageWords(help)}.
          </li>
        ))}
      </ul>
    </Notice>
  );
}

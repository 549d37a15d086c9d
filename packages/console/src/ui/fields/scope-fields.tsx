import { confirmedCalls } from "../../words/keys.ts";
import { TextField } from "./field.tsx";
import { type Option, OptionsField } from "./options-field.tsx";

/** The access scope of a key as the user types it. */
type Scope = { readonly entityId: string; readonly access: string; readonly toolkits: string };

/** The access scope of a key that is not limited. */
export const noScope: Scope = { entityId: "", access: "", toolkits: "" };

const classes = [
  { value: "", words: "All tools", says: "Reads, writes, and deletes after confirmation." },
  { value: "read,write", words: "Reads and writes", says: "No deletes." },
  { value: "read", words: "Reads", says: "No changes." },
];

/** Fields for the access scope of a key. `entityHint`, `toolkitsHint`: explain what the field means if it is empty. */
export function ScopeFields({
  scope,
  entityHint,
  toolkitsHint,
  onChange,
}: {
  scope: Scope;
  entityHint: string;
  toolkitsHint: string;
  onChange: (to: Scope) => void;
}) {
  return (
    <>
      <TextField
        label="Only for the user"
        autoComplete="off"
        mono
        value={scope.entityId}
        onChange={(entityId) => onChange({ ...scope, entityId })}
        hint={entityHint}
      />
      <OptionsField
        label="Tools it can use"
        value={scope.access}
        options={classes}
        onChange={(access) => onChange({ ...scope, access })}
      />
      <TextField
        label="Only of the apps"
        autoComplete="off"
        mono
        value={scope.toolkits}
        onChange={(toolkits) => onChange({ ...scope, toolkits })}
        hint={toolkitsHint}
      />
    </>
  );
}

/** Returns the access scope of a key in the form of the API, from the texts that the user typed. */
export function bindingOf({ entityId, access, toolkits }: Scope): {
  entityId: string;
  accessClasses: string[];
  toolkitSlugs: string[];
} {
  return { entityId, accessClasses: wordsOf(access), toolkitSlugs: wordsOf(toolkits) };
}

/** Returns the words of a line in which commas separate the words. */
function wordsOf(line: string): string[] {
  return line
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/**
 * Fields that choose which calls a person must confirm before svc sends them, and which contact (person) svc asks. The field for the
 * contact appears only if some calls need confirmation.
 */
export function ConfirmFields({
  person,
  contact,
  options = confirmedCalls,
  onChange,
}: {
  person: string;
  contact: string;
  options?: readonly Option[];
  onChange: (to: { person?: string; contact?: string }) => void;
}) {
  return (
    <>
      <OptionsField
        label="Confirm calls"
        value={person}
        options={options}
        onChange={(to) => onChange({ person: to })}
      />
      {person !== "never" && (
        <TextField
          label="Who is asked to confirm"
          mono
          isRequired
          autoComplete="off"
          value={contact}
          onChange={(to) => onChange({ contact: to })}
          hint="Id of a person (page People). Without an answer within ten minutes, svc refuses the call."
        />
      )}
    </>
  );
}

import { confirmedCalls } from "../../words/agent-tools.ts";
import { TextField } from "./field.tsx";
import { type Option, OptionsField } from "./options-field.tsx";

/** Which calls a person confirms before they are sent, and who is asked: a contact, where there is anything to confirm. */
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
        label="A person confirms"
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
          hint="Id of a contact of the project, as its page Contacts lists it. Without an answer within ten minutes the call is refused."
        />
      )}
    </>
  );
}

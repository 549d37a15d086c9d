import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { FieldGroup } from "../../ui/fields/field-group.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { overlapDefault, overlapOptions } from "../../words/standing.ts";
import type { DraftForm } from "./draft-form.ts";

/** Which occurrences make a run, what each gets, and what holds runs back: all of it with what holds where nothing is said. */
export function LimitFields({ form: { draft, fieldOf } }: { form: DraftForm }) {
  const isMade = draft.policy !== "";
  return (
    <Stack>
      <SelectField
        {...fieldOf("policy", "While another run is under way")}
        options={overlapOptions(draft.by)}
        hint={`Where nothing is said: ${overlapDefault(draft.by)}.`}
      />
      {isMade && (
        <TextField
          {...fieldOf("overlapMax", "Runs at once")}
          inputMode="numeric"
          hint={draft.policy === "allow" ? "1 to 100. Empty: 100." : "1 to 100. Empty: 1."}
        />
      )}
      <FieldGroup label="Rate">
        <TextField
          {...fieldOf("rateMax", "Runs that start in a time")}
          inputMode="numeric"
          hint="What is over it waits. Empty: any number."
        />
        <TextField {...fieldOf("ratePer", "That time")} mono hint="Such as 1m or 1h, where a number is given." />
      </FieldGroup>
      <FieldGroup label="Budget of a day">
        <TextField
          {...fieldOf("runs", "Runs on a day")}
          inputMode="numeric"
          hint="What is over it waits for the next day. Empty: any number."
        />
        <TextField {...fieldOf("toolCalls", "Tool calls on a day")} inputMode="numeric" hint="Empty: any number." />
        <TextField {...fieldOf("writes", "Calls that write on a day")} inputMode="numeric" hint="Empty: any number." />
      </FieldGroup>
      <TextField
        {...fieldOf("pauseAfter", "Pauses after failures in a row")}
        inputMode="numeric"
        hint="Jobs that fail or expire, and starts that are refused. Empty: 10. 0: never."
      />
      <TextField
        {...fieldOf("when", "Only when")}
        mono
        hint="CEL over fire, event or row, and params, such as has(event.payload.severity). Empty: always."
      />
      <AreaField
        {...fieldOf("input", "Input of each run")}
        mono
        hint='JSON of what is given, such as {"day": {"$ref": "fire.localDate"}}, for a program that declares an inputSchema. Empty: the program&apos;s own.'
      />
    </Stack>
  );
}

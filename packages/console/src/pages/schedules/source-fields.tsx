import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { OptionsField } from "../../ui/fields/options-field.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { SuggestField } from "../../ui/fields/suggest-field.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { firstPolls, pollRuns, startedByOptions } from "../../words/standing.ts";
import { useEventToolkits, useTriggerSlugs } from "../events/trigger-choice.tsx";
import type { StartedBy } from "./draft.ts";
import type { DraftForm } from "./draft-form.ts";

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];

/** Draws the fields that set when a schedule starts: at times (each with its time zone), on events, or on new rows of a list. */
export function SourceFields({ form }: { form: DraftForm }) {
  const { draft, change, fieldOf } = form;
  return (
    <Stack>
      <OptionsField
        label="Started by"
        value={draft.by}
        options={startedByOptions}
        onChange={(by) => change({ by: by as StartedBy })}
      />
      {draft.by === "cron" && (
        <AreaField
          {...fieldOf("cron", "Cron expressions")}
          mono
          hint="Five fields, such as 0 9 * * 1-5: nine o'clock on working days. Write one expression per line; a run starts at the times of each."
        />
      )}
      {draft.by === "every" && (
        <TextField
          {...fieldOf("every", "Every")}
          mono
          hint="Time between runs, such as 15m, 6h or 14d. At least 1m. For a time of day, use a cron expression."
        />
      )}
      {draft.by === "at" && (
        <AreaField {...fieldOf("at", "Times")} mono hint="Such as 2027-01-01T09:00:00Z. One per line, up to 100." />
      )}
      {draft.by === "trigger" && <TriggerFields form={form} />}
      {draft.by === "poll" && <PollFields form={form} />}
      <SuggestField
        {...fieldOf("timeZone", "Time zone")}
        suggestions={zones}
        hint="Time zone of the cron expressions, the dates and the days of the budget. Leave it empty for UTC."
      />
    </Stack>
  );
}

/** Draws the fields for the trigger whose events start the schedule. */
function TriggerFields({ form: { draft, change, fieldOf } }: { form: DraftForm }) {
  const toolkits = useEventToolkits();
  const triggers = useTriggerSlugs(draft.toolkit);
  const choose = (words: string) => ({ value: "", words });
  const options = (slugs: readonly string[], own: string) =>
    [...new Set([...slugs, ...(own === "" ? [] : [own])])].map((slug) => ({ value: slug, words: slug }));
  return (
    <>
      <SelectField
        label="Events of"
        value={draft.toolkit}
        options={[choose("choose an app"), ...options(toolkits, draft.toolkit)]}
        onChange={(toolkit) => change({ toolkit, trigger: "" })}
        hint="The app whose events start a run. events: events that you publish. svc: events about this project, such as a failing endpoint."
      />
      <SelectField
        {...fieldOf("trigger", "Trigger")}
        options={[choose("choose a trigger"), ...options(triggers, draft.trigger)]}
      />
      <TextField {...fieldOf("entity", "User")} hint="Only events of this user. Leave it empty for all." />
    </>
  );
}

function PollFields({ form: { fieldOf } }: { form: DraftForm }) {
  return (
    <>
      <TextField
        {...fieldOf("call", "Tool that reads the list")}
        mono
        hint="Only reads, such as sales_crm.list_deals."
      />
      <TextField {...fieldOf("pollEntity", "User")} hint="The user or customer whose account is read." />
      <TextField {...fieldOf("pollEvery", "Every")} mono hint="How often to read it, such as 5m. At least 1m." />
      <AreaField {...fieldOf("args", "Arguments")} mono hint="A JSON object, the same for each read, or empty." />
      <SelectField {...fieldOf("first", "Items that are already in the list")} options={firstPolls} />
      <SelectField {...fieldOf("per", "One run gets")} options={pollRuns} />
    </>
  );
}

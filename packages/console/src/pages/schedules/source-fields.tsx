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
          hint="Of five fields, one a line; their union is due. 0 9 * * 1-5 is nine o'clock on working days."
        />
      )}
      {draft.by === "every" && (
        <TextField
          {...fieldOf("every", "Every")}
          mono
          hint="Such as 15m, 6h or 14d; a minute at least. It knows no wall clock."
        />
      )}
      {draft.by === "at" && (
        <AreaField {...fieldOf("at", "Instants")} mono hint="Such as 2027-01-01T09:00:00Z, one a line, up to 100." />
      )}
      {draft.by === "trigger" && <TriggerFields form={form} />}
      {draft.by === "poll" && <PollFields form={form} />}
      <SuggestField
        {...fieldOf("timeZone", "Time zone")}
        suggestions={zones}
        hint="Of cron expressions, of local times and of the budget's days. Empty: UTC."
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
        options={[choose("choose a toolkit"), ...options(toolkits, draft.toolkit)]}
        onChange={(toolkit) => change({ toolkit, trigger: "" })}
        hint="What its app posts. events: your own events. svc: what svc reports, such as a failing endpoint."
      />
      <SelectField
        {...fieldOf("trigger", "Trigger")}
        options={[choose("choose a trigger"), ...options(triggers, draft.trigger)]}
      />
      <TextField {...fieldOf("entity", "Entity")} hint="Only events about the account of this entity. Empty: of any." />
    </>
  );
}

function PollFields({ form: { fieldOf } }: { form: DraftForm }) {
  return (
    <>
      <TextField {...fieldOf("call", "Tool that lists")} mono hint="Of class read, such as sales_crm.list_deals." />
      <TextField {...fieldOf("pollEntity", "Entity")} hint="Whose account of the app is read." />
      <TextField {...fieldOf("pollEvery", "Every")} mono hint="How often it is read, such as 5m; a minute at least." />
      <AreaField {...fieldOf("args", "Its arguments")} mono hint="A JSON object, the same each time. Empty: none." />
      <SelectField {...fieldOf("first", "What the first poll finds")} options={firstPolls} />
      <SelectField {...fieldOf("per", "A run for")} options={pollRuns} />
    </>
  );
}

import type { ReactNode } from "react";
import { JsonField } from "../../builder/json-field.tsx";
import { fieldText, memberOf } from "../../json/value.ts";
import { ChipInput, ChipSelect, Sentence } from "../../ui/fields/chip-fields.tsx";
import { AreaField } from "../../ui/fields/field.tsx";
import { firstPolls, pollRuns } from "../../words/standing.ts";
import { useEventToolkits, useTriggerSlugs } from "../events/trigger-choice.tsx";
import type { StartedBy } from "./definition.ts";
import { type DefinitionForm, faultAt, valueAt } from "./definition-form.ts";

/**
 * Properties of the sentence that says what starts a schedule. `rest`: the end of the sentence, which names the action and is the same for
 * every kind of start.
 */
export type SourceSentence = { form: DefinitionForm; rest: ReactNode };

/** A short text of the definition inside a sentence. An empty text stays in the definition, so that the sentence stays complete. */
function Chip({
  form,
  pointer,
  label,
  placeholder,
  isOptional = false,
}: {
  form: DefinitionForm;
  pointer: string;
  label: string;
  placeholder: string;
  /** True if an empty text removes the value from the definition. */
  isOptional?: boolean;
}) {
  return (
    <ChipInput
      label={label}
      value={fieldText(valueAt(form, pointer))}
      fault={faultAt(form, pointer) !== undefined}
      placeholder={placeholder}
      onChange={(text) => form.document.set(pointer, text === "" && isOptional ? undefined : text)}
    />
  );
}

/** Draws a schedule that runs after an interval. */
function EverySentence({ form, rest }: SourceSentence) {
  return (
    <Sentence>
      Every <Chip form={form} pointer="/source/schedule/every" label="Every" placeholder="15m" />
      {rest}.
    </Sentence>
  );
}

/** Draws a schedule that runs at set times. */
function AtSentence({ form, rest }: SourceSentence) {
  const pointer = "/source/schedule/at";
  const value = valueAt(form, pointer);
  return (
    <>
      <Sentence>At the times below{rest}.</Sentence>
      <AreaField
        label="Times"
        mono
        value={Array.isArray(value) ? value.map(String).join("\n") : ""}
        fault={faultAt(form, pointer)}
        onChange={(text) => form.document.set(pointer, text.split("\n"))}
        hint="Such as 2027-01-01T09:00:00Z. One per line, up to 100."
      />
    </>
  );
}

/** Draws a schedule that runs for each event of a trigger. */
function EventSentence({ form, rest }: SourceSentence) {
  const pointer = "/source/trigger/slug";
  const slug = fieldText(valueAt(form, pointer));
  const toolkit = slug.split(".")[0] ?? "";
  const toolkits = useEventToolkits();
  const triggers = useTriggerSlugs(toolkit);
  const options = (values: readonly string[], own: string, none: string) => [
    { value: "", words: none },
    ...[...new Set([...values, ...(own === "" ? [] : [own])])].map((value) => ({ value, words: value })),
  ];
  const set = (to: string) => form.document.set(pointer, to);
  return (
    <Sentence>
      When{" "}
      <ChipSelect
        label="Events of"
        value={toolkit}
        options={options(toolkits, toolkit, "choose an app")}
        onChange={(to) => set(to === "" ? "" : `${to}.`)}
      />{" "}
      sends{" "}
      <ChipSelect
        label="Trigger"
        fault={faultAt(form, pointer) !== undefined}
        value={slug.endsWith(".") ? "" : slug}
        options={options(triggers, slug.endsWith(".") ? "" : slug, "choose an event")}
        onChange={(to) => set(to === "" ? `${toolkit}.` : to)}
      />{" "}
      for{" "}
      <Chip form={form} pointer="/source/trigger/entity" label="Events of the user" placeholder="any user" isOptional />
      {rest}.
    </Sentence>
  );
}

/** Draws a schedule that reads a list again and again, and runs for its new items. */
function PollSentence({ form, rest }: SourceSentence) {
  const poll = (name: string) => `/source/poll/${name}`;
  const written = (name: string) => JSON.stringify(memberOf(valueAt(form, "/source/poll"), name)) ?? "";
  const first = firstPolls.find(({ value }) => value === written("first"));
  return (
    <>
      <Sentence>
        Every <Chip form={form} pointer={poll("every")} label="Every" placeholder="5m" /> read{" "}
        <Chip form={form} pointer={poll("call")} label="Tool that reads the list" placeholder="sales_crm.list_deals" />{" "}
        of <Chip form={form} pointer={poll("entity")} label="User whose account is read" placeholder="ops" />, and for{" "}
        <ChipSelect
          label="One run gets"
          value={fieldText(valueAt(form, poll("per")))}
          options={pollRuns}
          onChange={(per) => form.document.set(poll("per"), per === "" ? undefined : per)}
        />
        {rest}. At first,{" "}
        <ChipSelect
          label="Items that are already in the list"
          value={first?.value ?? "other"}
          options={
            first === undefined ? [...firstPolls, { value: "other", words: "as written in the JSON" }] : firstPolls
          }
          onChange={(value) =>
            form.document.set(poll("first"), value === "" || value === "other" ? undefined : JSON.parse(value))
          }
        />{" "}
        count as new.
      </Sentence>
      <JsonField
        document={form.document}
        pointer={poll("args")}
        label="Arguments of the read"
        fault={faultAt(form, poll("args"))}
        hint="A JSON object, the same for each read. Empty if the tool needs none."
      />
    </>
  );
}

const sentences: Readonly<Record<Exclude<StartedBy, "cron">, (props: SourceSentence) => ReactNode>> = {
  every: EverySentence,
  at: AtSentence,
  trigger: EventSentence,
  poll: PollSentence,
};

/**
 * Draws the sentence that says what starts a schedule, for every kind of start but cron times. The browser loads this code only when such a
 * schedule is edited.
 */
export default function SourceSentenceOf({ by, ...props }: SourceSentence & { by: Exclude<StartedBy, "cron"> }) {
  const SentenceOf = sentences[by];
  return <SentenceOf key={by} {...props} />;
}

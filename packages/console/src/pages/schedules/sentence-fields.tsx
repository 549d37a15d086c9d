import { type ReactNode, Suspense } from "react";
import { callsOf } from "../../builder/step-tree.ts";
import { useNow } from "../../clock.ts";
import { setText } from "../../json/patch.ts";
import { fieldText } from "../../json/value.ts";
import { ChipInput, ChipSelect, Segments } from "../../ui/fields/chip-fields.tsx";
import { GroupFaults } from "../../ui/fields/field-group.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { overlapOptions, startedByOptions } from "../../words/standing.ts";
import { clockWords } from "../../words/time.ts";
import { CronSentence } from "./cron-sentence.tsx";
import { type StartedBy, startedBy, withSource } from "./definition.ts";
import { type DefinitionForm, faultAt, valueAt } from "./definition-form.ts";

const dayMs = 86_400_000;

const SourceSentenceOf = laterPart(() => import("./source-sentences.tsx"));

/**
 * Draws the start of a schedule and its action as one sentence with inputs, such as "Every [day] at [09:00], run …". `runs`: the input that
 * chooses the action.
 */
export function SentenceFields({ form, runs }: { form: DefinitionForm; runs: ReactNode }) {
  const { document } = form;
  const by = startedBy(document.root);
  const now = useNow(60_000);
  const rest = <Rest by={by} form={form} runs={runs} />;
  return (
    <Stack>
      <Segments
        label="Started by"
        value={by}
        options={startedByOptions}
        onChange={(to) => {
          const tomorrow = `${clockWords(now + dayMs, "utc").slice(0, 10)}T09:00:00Z`;
          document.change("source", (text) => withSource(text, to as StartedBy, tomorrow));
        }}
      />
      {by === "cron" ? (
        <CronSentence form={form} rest={rest} />
      ) : (
        <Suspense fallback={<Skeleton rows={2} />}>
          <SourceSentenceOf by={by} form={form} rest={rest} />
        </Suspense>
      )}
      <GroupFaults
        faults={["/source", "/timeZone", "/overlap/policy"].flatMap((pointer) => faultAt(form, pointer) ?? [])}
      />
    </Stack>
  );
}

/** Draws the end of every sentence: as which user, what is run, and what happens if the last run still works. */
function Rest({ by, form, runs }: { by: StartedBy; form: DefinitionForm; runs: ReactNode }) {
  const { document } = form;
  const calls = callsOf(valueAt(form, "/program/steps"), "/program/steps");
  const entities = [...new Set(calls.map(({ entity }) => entity))];
  const { standard, options } = overlapOptions(by);
  return (
    <>
      {entities.length === 1 && (
        <>
          , as{" "}
          <ChipInput
            label="User"
            value={entities[0] ?? ""}
            fault={calls.some(({ pointer }) => faultAt(form, `${pointer}/entity`) !== undefined)}
            onChange={(entity) =>
              document.change("/program/entity", (text) =>
                calls.reduce((old, { pointer }) => setText(old, `${pointer}/entity`, JSON.stringify(entity)), text),
              )
            }
          />
        </>
      )}
      {entities.length > 1 && `, as ${entities.join(" and ")}`}, run {runs}, and if the last run still works,{" "}
      <ChipSelect
        label="If the last run still works"
        value={fieldText(valueAt(form, "/overlap/policy")) || standard}
        fault={faultAt(form, "/overlap/policy") !== undefined}
        options={options}
        onChange={(policy) => document.set("/overlap/policy", policy === standard ? undefined : policy)}
      />
    </>
  );
}

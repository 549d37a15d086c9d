import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { type PreviewStandingProgramResponse, StandingService } from "@svc/gen/standing";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useMemo, useRef, useState } from "react";
import { failureOf, type WireFault } from "../../calls/fault.ts";
import { useSettled } from "../../clock.ts";
import type { JsonWriteHandle } from "../../ui/code/json-write.tsx";
import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { FieldGroup } from "../../ui/fields/field-group.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { overlapOptions } from "../../words/standing.ts";
import { definitionText } from "./definition-text.ts";
import { type Draft, keptParts } from "./draft.ts";
import { placeDefinitionFaults } from "./draft-faults.ts";
import type { DraftForm } from "./draft-form.ts";
import type { Json } from "./draft-json.ts";
import { ScheduleVerdict } from "./schedule-verdict.tsx";
import { SourceFields } from "./source-fields.tsx";
import type { ScheduleCheck } from "./use-schedule-check.ts";

/** Time after the last key press before the schedule's definition is checked, in milliseconds. */
const restMs = 350;

const previewedRuns = 5;

type Verdict = { preview?: PreviewStandingProgramResponse; faults: readonly WireFault[] };

const JsonWrite = lazy(() => import("../../ui/code/json-write.tsx"));

/**
 * The result of the schedule's form. `definitionJson`: the definition of the schedule to send. `why`: the reason why it cannot be sent yet.
 * `needsApproval`: true if svc asks people for approval after it is sent.
 */
export type WrittenSchedule = { definitionJson: string; why: string | undefined; needsApproval: boolean };

/** Draws the form of a schedule: what starts it, its program, its limits, and the service's check of the schedule's definition. */
export function ScheduleEditor({
  begun,
  naming,
  children,
}: {
  /** Initial values of the editor. Later changes of this property have no effect. */
  begun: { draft: Draft; programText: string; kept: Json };
  /** Fields that are drawn at the top of the schedule's form, for example its name. */
  naming?: ReactNode;
  /** The buttons that send the schedule's definition to the service. */
  children: (written: WrittenSchedule) => ReactNode;
}) {
  const [{ kept, programText }] = useState(begun);
  const [draft, setDraft] = useState(begun.draft);
  const [text, setText] = useState(programText);
  const editor = useRef<JsonWriteHandle>(null);
  const check = useScheduleCheck(draft, text, kept);
  const { faults, isCurrent } = check;
  const { program } = faults;
  const marks = useMemo(() => program.map(({ mark }) => mark), [program]);
  const change = (to: Partial<Draft>) => setDraft((old) => ({ ...old, ...to }));
  const form: DraftForm = {
    ...{ draft, change },
    fieldOf: (name, label) => ({
      ...{ label, value: draft[name], fault: faults.at[name] },
      onChange: (value) => change({ [name]: value }),
    }),
  };
  const isFaulty = Object.keys(faults.at).length + program.length + faults.rest.length > 0;
  const others = keptParts(kept);
  return (
    <Columns>
      <Stack>
        <Section title="Schedule">
          <Stack>
            {naming}
            <TextField {...form.fieldOf("title", "Title")} hint="Its purpose. If empty, the title of its program." />
            <SourceFields form={form} />
          </Stack>
        </Section>
        <Section title="Program">
          <Suspense fallback={<Skeleton rows={12} />}>
            <JsonWrite initial={programText} label="Program" marks={marks} onChange={setText} handle={editor} />
          </Suspense>
        </Section>
        <Section title="Overlap and limits">
          <LimitFields form={form} />
          {others.length > 0 && <p>Unchanged: {others.join(", ")}.</p>}
        </Section>
      </Stack>
      <Stack>
        {children({
          ...{ definitionJson: check.definitionJson, needsApproval: check.preview?.needsApproval ?? false },
          why: !isCurrent ? "Checking" : isFaulty ? "Fix the problems first" : undefined,
        })}
        <FaultNotice error={check.error} onRetry={check.retry} />
        <ScheduleVerdict check={check} draft={draft} onGoTo={(offset) => editor.current?.goTo(offset)} />
      </Stack>
    </Columns>
  );
}

/** Draws the fields for the limits on a schedule's runs, for their condition and for their input. */
function LimitFields({ form: { draft, fieldOf } }: { form: DraftForm }) {
  const isMade = draft.policy !== "";
  return (
    <Stack>
      <SelectField
        {...fieldOf("policy", "If another run is still active")}
        options={overlapOptions(draft.by)}
        hint="What svc does with a run that is due while another run is active."
      />
      {isMade && (
        <TextField
          {...fieldOf("overlapMax", "Concurrent runs")}
          inputMode="numeric"
          hint={draft.policy === "allow" ? "1 to 100. Leave it empty for 100." : "1 to 100. Leave it empty for 1."}
        />
      )}
      <FieldGroup label="Rate">
        <TextField
          {...fieldOf("rateMax", "At most this many runs")}
          inputMode="numeric"
          hint="Extra runs wait. Leave empty for no limit."
        />
        <TextField {...fieldOf("ratePer", "Per")} mono hint="Length of the period, such as 1m or 1h." />
      </FieldGroup>
      <FieldGroup label="Daily limits">
        <TextField
          {...fieldOf("runs", "Runs per day")}
          inputMode="numeric"
          hint="Extra runs wait for the next day. Leave empty for no limit."
        />
        <TextField {...fieldOf("toolCalls", "Tool calls per day")} inputMode="numeric" hint="Empty: no limit." />
        <TextField {...fieldOf("writes", "Writes per day")} inputMode="numeric" hint="Empty: no limit." />
      </FieldGroup>
      <TextField
        {...fieldOf("pauseAfter", "Pause after failures in a row")}
        inputMode="numeric"
        hint="svc pauses the schedule after this many failed jobs in a row. Leave empty for 10. 0: never."
      />
      <TextField
        {...fieldOf("when", "Only if")}
        mono
        hint="A condition in CEL over fire, event, row and params, such as has(event.payload.severity). Leave it empty to always run."
      />
      <AreaField
        {...fieldOf("input", "Input of each run")}
        mono
        hint='A JSON object for a program that has an inputSchema, such as {"day": {"$ref": "fire.localDate"}}. Leave it empty for the defaults of the program.'
      />
    </Stack>
  );
}

/**
 * Returns the service's check of a schedule's definition while the user edits it. If the program is not valid JSON, the service checks only
 * the program.
 */
function useScheduleCheck(draft: Draft, programText: string, kept: Json): ScheduleCheck {
  const transport = useTransport();
  const definitionJson = definitionText(draft, programText, kept);
  const checked = useSettled(definitionJson, restMs);
  const checkedProgram = useSettled(programText, restMs);
  const { previewStandingProgram } = StandingService.method;
  const isJson = isJsonText(checkedProgram);
  const input = { definitionJson: checked, count: previewedRuns };
  const check = useQuery({
    queryKey: [
      ...createConnectQueryKey({ schema: previewStandingProgram, transport, input, cardinality: "finite" }),
      isJson ? "" : checkedProgram,
    ],
    queryFn: async ({ signal }): Promise<Verdict> => {
      if (!isJson) {
        const answer = await callUnaryMethod(
          transport,
          JobsService.method.checkProgram,
          { programJson: checkedProgram },
          { signal },
        );
        const field = (of: string) => of.replace(/^programJson/, "definitionJson/program");
        return {
          faults: answer.faults.map((fault) => ({
            reason: fault.reason,
            field: field(fault.field),
            help: `${fault.message}: ${fault.help}`,
          })),
        };
      }
      try {
        return { preview: await callUnaryMethod(transport, previewStandingProgram, input, { signal }), faults: [] };
      } catch (error) {
        const faults = failureOf(error).faults.filter(({ field }) => field.startsWith("definitionJson"));
        if (ConnectError.from(error).code !== Code.InvalidArgument || faults.length === 0) throw error;
        return { faults };
      }
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  const found = check.data?.faults;
  const faults = useMemo(
    () => placeDefinitionFaults(draft.by, checkedProgram, found ?? []),
    [draft.by, checkedProgram, found],
  );
  return {
    definitionJson,
    preview: check.data?.preview,
    faults,
    isCurrent: checked === definitionJson && check.isSuccess && !check.isPlaceholderData,
    error: check.error,
    retry: () => void check.refetch(),
  };
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

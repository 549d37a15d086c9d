import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { PreviewStandingProgramResponse } from "@svc/gen/standing";
import { type ReactNode, Suspense, useMemo } from "react";
import { ConnectAccounts, useOwnFaults } from "../../builder/connect-accounts.tsx";
import { type Document, useDocument } from "../../builder/document.ts";
import { useRunOnce } from "../../builder/run-once.tsx";
import { callsOf } from "../../builder/step-tree.ts";
import { useEditorMode } from "../../builder/use-editor-mode.tsx";
import { fieldText, type Json, memberOf } from "../../json/value.ts";
import { TextField } from "../../ui/fields/field.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { FaultList } from "../../ui/notice/fault-list.tsx";
import { placeFaults } from "../../words/placed-faults.ts";
import { type DefinitionForm, pointerOf, textInput } from "./definition-form.ts";
import { Details, Extras } from "./extras.tsx";
import { programAt } from "./sample-input.ts";
import { SchedulePreview } from "./schedule-preview.tsx";
import { SentenceFields } from "./sentence-fields.tsx";
import { useScheduleCheck } from "./use-schedule-check.ts";

// The cards are code of their own, which the browser loads while the page reads the program.
const ProgramCards = laterPart(() => import("../../builder/program-cards.tsx"));

/**
 * The content of the form that edits a schedule. `definitionJson`: the definition to send. `why`: the reason why it cannot be sent yet;
 * undefined if it can. `needsApproval`: true if people must approve the schedule after it is sent.
 */
export type WrittenSchedule = {
  definitionJson: string;
  why: string | undefined;
  needsApproval: boolean;
  /** Title of the schedule. If it has none, that of its program. */
  title: string;
};

/**
 * Draws the editor of a schedule: a sentence that says what starts it, its optional settings and its program, or all of it as JSON. At the
 * right are the next runs, or the errors that the service found.
 */
export function ScheduleEditor({
  title,
  back,
  initial,
  naming,
  runs,
  examples,
  actions,
  error,
  children,
}: {
  title: string;
  back: ReactNode;
  /** Text of the definition with which the editor starts. Later changes of this property have no effect. */
  initial: string;
  /** Fields that are drawn below the title, for example the schedule's name. */
  naming?: (written: WrittenSchedule) => ReactNode;
  /** The choice of what the schedule runs, inside the sentence. `steps`: words such as `the 3 steps below`. */
  runs: (steps: string, document: Document) => ReactNode;
  /** The button that opens the examples. Undefined if the page has none. */
  examples?: (document: Document) => ReactNode;
  /** The button that sends the definition to the service. */
  actions: (written: WrittenSchedule) => ReactNode;
  /** Error of sending the definition, as far as no field shows it. Null if there is none. */
  error: unknown;
  /** Content below the preview, such as options of sending. */
  children: (written: WrittenSchedule) => ReactNode;
}) {
  const document = useDocument(initial);
  const { text, root } = document;
  const check = useScheduleCheck(text);
  const { preview, isCurrent, checked } = check;
  const faults = useOwnFaults(check.faults);
  const form = { document, faults };
  const placed = useMemo(
    () =>
      placeFaults(
        checked,
        faults.map((fault) => ({ reason: fault.reason, pointer: pointerOf(fault), message: fault.help, help: "" })),
      ),
    [checked, faults],
  );
  const mode = useEditorMode(document, "Definition", placed);
  const isFaulty = check.faults.length > 0;
  const why = !isCurrent
    ? "Checking"
    : faults.length > 0
      ? "Fix the problems first"
      : isFaulty
        ? "Connect the accounts first"
        : undefined;
  const written = { definitionJson: text, title: titleOf(root), needsApproval: preview?.needsApproval ?? false, why };
  const program = programAt(text, root, sampleFire(preview));
  const once = useRunOnce(
    program,
    why ?? (program === undefined ? "Its input comes from an event or a row" : undefined),
  );
  return (
    <Page
      title={title}
      back={back}
      actions={
        <>
          {mode.controls}
          {once.button}
          {actions(written)}
        </>
      }
    >
      <Columns follows>
        {mode.text ?? (
          <Stack>
            <Titles form={form} shown={written.title}>
              {naming?.(written)}
            </Titles>
            <SentenceFields form={form} runs={runs(stepWords(root), document)} />
            <Extras form={form} />
            <Section title="Steps" actions={examples?.(document)}>
              <Suspense fallback={<Skeleton rows={8} />}>
                <ProgramCards document={document} base="/program" faults={placed} />
              </Suspense>
            </Section>
            <Details form={form} />
          </Stack>
        )}
        <Stack>
          <FaultNotice error={error} />
          <ConnectAccounts calls={callsOf(root, "")} onConnected={check.retry} />
          <FaultNotice error={check.error} onRetry={check.retry} />
          {faults.length > 0 ? (
            <Section
              title={`${faults.length} ${faults.length === 1 ? "problem" : "problems"}${isCurrent ? "" : ", checking"}`}
            >
              <FaultList faults={placed} onGoTo={mode.goTo} />
            </Section>
          ) : (
            preview !== undefined && <SchedulePreview form={form} preview={preview} />
          )}
          {once.result}
          {children(written)}
        </Stack>
      </Columns>
    </Page>
  );
}

/** Returns the members of `fire` of the next run, as far as a program can use them before the schedule exists. */
function sampleFire(preview: PreviewStandingProgramResponse | undefined): Json {
  const next = preview?.nextTimes[0];
  if (preview === undefined || next === undefined) return {};
  const [localDate = "", localTime = ""] = next.local.split("T");
  const at = next.at === undefined ? undefined : timestampDate(next.at).toISOString();
  return { localDate, localTime, timeZone: preview.timeZone, kind: "schedule", missed: 0, at };
}

/** Draws the title of the schedule. `shown`: the title that applies, such as that of its program. */
function Titles({ form, shown, children }: { form: DefinitionForm; shown: string; children: ReactNode }) {
  return (
    <Columns even>
      <TextField {...textInput(form, "/title", "Title")} placeholder={shown} />
      {children}
    </Columns>
  );
}

function titleOf(root: Json | undefined): string {
  return fieldText(memberOf(root, "title")) || fieldText(memberOf(root, "program", "title"));
}

function stepWords(root: Json | undefined): string {
  const steps = memberOf(root, "program", "steps");
  const count = Array.isArray(steps) ? steps.length : 0;
  return count === 1 ? "the step below" : `the ${count} steps below`;
}

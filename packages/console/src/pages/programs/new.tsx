import { useQuery } from "@connectrpc/connect-query";
import { type CheckProgramResponse, JobsService } from "@svc/gen/jobs";
import { keepPreviousData } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import { ConnectAccounts, useOwnFaults } from "../../builder/connect-accounts.tsx";
import { useDocument } from "../../builder/document.ts";
import { GalleryButton, useExample } from "../../builder/gallery-button.tsx";
import { callsOf } from "../../builder/step-tree.ts";
import { useEditorMode } from "../../builder/use-editor-mode.tsx";
import { useSettled } from "../../clock.ts";
import { fieldText } from "../../json/value.ts";
import { TextField } from "../../ui/fields/field.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { FaultList, NoteList } from "../../ui/notice/fault-list.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import type { PlacedFault } from "../../words/placed-faults.ts";
import { prettyJson } from "../../words/pretty-json.ts";
import { ProgramPicture } from "../jobs/job-graph.tsx";
import { useJob } from "../jobs/use-job.ts";
import { estimateFacts, placeProgramFaults } from "./check-words.ts";
import { exampleProgram } from "./example.ts";
import { SubmitButtons } from "./submit-buttons.tsx";

// The cards are code of their own, which the browser loads while the page reads the program.
const ProgramCards = laterPart(() => import("../../builder/program-cards.tsx"));

/** Time after the last change before the program is checked, in milliseconds. */
const restMs = 250;

/** Draws the editor of a program, with the service's check of it and the buttons that run it. */
function ProgramEditor({ initial, projectId }: { initial: string; projectId: string }) {
  const document = useDocument(initial);
  const { text } = document;
  const checked = useSettled(text, restMs);
  const check = useQuery(
    JobsService.method.checkProgram,
    { programJson: checked },
    { placeholderData: keepPreviousData, staleTime: 0 },
  );
  const all = useMemo(() => placeProgramFaults(checked, check.data?.faults ?? []), [checked, check.data]);
  const faults = useOwnFaults(all);
  const why = faults.length > 0 ? "Fix the problems first" : all.length > 0 ? "Connect the accounts first" : undefined;
  const isCurrent = checked === text && check.isSuccess && !check.isPlaceholderData;
  const mode = useEditorMode(document, "Program", faults);
  return (
    <Page title="New program" back={<Back projectId={projectId} />} actions={mode.controls}>
      <Columns follows>
        {mode.text ?? (
          <Stack>
            <TextField
              label="Title"
              value={fieldText(document.root?.["title"])}
              onChange={(title) => document.set("/title", title)}
            />
            <Section
              title="Steps"
              actions={<GalleryButton kind="programs" onUse={(used) => document.change("example", () => used.text)} />}
            >
              <Suspense fallback={<Skeleton rows={8} />}>
                <ProgramCards document={document} base="" faults={faults} />
              </Suspense>
            </Section>
          </Stack>
        )}
        <Stack>
          <SubmitButtons text={text} projectId={projectId} why={isCurrent ? why : "The program is being checked"} />
          <ConnectAccounts calls={callsOf(document.root, "")} onConnected={() => void check.refetch()} />
          <FaultNotice error={check.error} onRetry={() => void check.refetch()} />
          {check.data !== undefined && (faults.length > 0 || all.length === 0) && (
            <CheckResult answer={check.data} faults={faults} isCurrent={isCurrent} onGoTo={mode.goTo} />
          )}
          <Disclosure summary="Picture of the steps and their data">
            <ProgramPicture programJson={checked} />
          </Disclosure>
        </Stack>
      </Columns>
    </Page>
  );
}

/**
 * Draws the result of checking a program. If the program has errors: the list of errors. Otherwise: what the program can do at most, and
 * whether it needs approval.
 */
function CheckResult({
  answer,
  faults,
  isCurrent,
  onGoTo,
}: {
  answer: CheckProgramResponse;
  faults: readonly PlacedFault[];
  /** True if the result of the check is about the current text of the editor. */
  isCurrent: boolean;
  onGoTo: (offset: number) => void;
}) {
  const { omittedFaults, estimate, needsApproval, programHash, notes } = answer;
  if (faults.length > 0) {
    return (
      <Section
        title={`${faults.length} ${faults.length === 1 ? "problem" : "problems"}${isCurrent ? "" : ", checking"}`}
      >
        <FaultList faults={faults} onGoTo={onGoTo} />
        {omittedFaults > 0 && <p>{omittedFaults} more are not shown.</p>}
      </Section>
    );
  }
  return (
    <>
      <Notice
        tone={needsApproval ? "warn" : "ok"}
        icon={needsApproval ? "lock" : "check"}
        title={needsApproval ? "Ready to run. It needs approval first." : "Ready to run. No approval needed."}
      >
        {needsApproval && <p>Only the key that submits it can approve it, and the key needs the approver role.</p>}
      </Notice>
      <NoteList notes={notes} />
      {estimate !== undefined && (
        <Section title="Estimated usage">
          <Facts
            facts={[...estimateFacts(estimate), ["Hash", <Copyable key="hash" text={programHash} what="hash" />]]}
          />
        </Section>
      )}
    </>
  );
}

const route = getRouteApi("/p/$projectId/programs/new");

/**
 * Draws the page of a new program. The program starts as the program of a job or as an example. The user edits it, the service checks it
 * while the user types, and then it is simulated or submitted.
 */
export default function NewProgramPage() {
  const { projectId } = route.useParams();
  const { from, example } = route.useSearch();
  const found = useExample(example);
  if (from !== undefined) return <FromJob key={from} jobId={from} projectId={projectId} />;
  if ("example" in found)
    return <ProgramEditor key={example} initial={found.example?.text ?? exampleProgram} projectId={projectId} />;
  return (
    <Page title="New program" back={<Back projectId={projectId} />}>
      {found.waiting}
    </Page>
  );
}

function Back({ projectId }: { projectId: string }) {
  return (
    <Link to="/p/$projectId/jobs" params={{ projectId }}>
      Jobs
    </Link>
  );
}

/** Draws the editor with the program of a job. The job is read only once, so that the text does not change while the user edits it. */
function FromJob({ jobId, projectId }: { jobId: string; projectId: string }) {
  const found = useJob(jobId);
  const job = found.data?.job;
  if (job !== undefined) return <ProgramEditor initial={prettyJson(job.programJson)} projectId={projectId} />;
  return (
    <Page title="New program" back={<Back projectId={projectId} />}>
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
    </Page>
  );
}

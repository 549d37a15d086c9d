import { useQuery } from "@connectrpc/connect-query";
import { type CheckProgramResponse, JobsService } from "@svc/gen/jobs";
import { keepPreviousData } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { useSettled } from "../../clock.ts";
import type { JsonWriteHandle } from "../../ui/code/json-write.tsx";
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
import { useJob } from "../jobs/use-job.ts";
import { estimateFacts, placeProgramFaults } from "./check-words.ts";
import { exampleProgram } from "./example.ts";
import { SubmitButtons } from "./submit-buttons.tsx";

const JsonWrite = lazy(() => import("../../ui/code/json-write.tsx"));

/** Time after the last key press before the program is checked, in milliseconds. */
const restMs = 350;

/** Draws the editor of a program, with the service's check of it and the buttons that run it. */
function ProgramEditor({ initial, projectId }: { initial: string; projectId: string }) {
  // The text with which the editor starts. It never changes, so reading the job again does not overwrite the user's text.
  const [begun] = useState(initial);
  const [text, setText] = useState(initial);
  const editor = useRef<JsonWriteHandle>(null);
  const checked = useSettled(text, restMs);
  const check = useQuery(
    JobsService.method.checkProgram,
    { programJson: checked },
    { placeholderData: keepPreviousData, staleTime: 0 },
  );
  const faults = useMemo(() => placeProgramFaults(checked, check.data?.faults ?? []), [checked, check.data]);
  const marks = useMemo(() => faults.map(({ mark }) => mark), [faults]);
  const isCurrent = checked === text && check.isSuccess && !check.isPlaceholderData;
  return (
    <Columns>
      <Section title="Program">
        <Suspense fallback={<Skeleton rows={12} />}>
          <JsonWrite initial={begun} label="Program" marks={marks} onChange={setText} handle={editor} />
        </Suspense>
      </Section>
      <Stack>
        <SubmitButtons
          text={text}
          projectId={projectId}
          why={!isCurrent ? "The program is being checked" : faults.length > 0 ? "Fix the problems first" : undefined}
        />
        <FaultNotice error={check.error} onRetry={() => void check.refetch()} />
        {check.data !== undefined && (
          <CheckResult
            answer={check.data}
            faults={faults}
            isCurrent={isCurrent}
            onGoTo={(offset) => editor.current?.goTo(offset)}
          />
        )}
      </Stack>
    </Columns>
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
  const { from } = route.useSearch();
  return (
    <Page
      title="New program"
      back={
        <Link to="/p/$projectId/jobs" params={{ projectId }}>
          Jobs
        </Link>
      }
    >
      {from === undefined ? (
        <ProgramEditor initial={exampleProgram} projectId={projectId} />
      ) : (
        <FromJob key={from} jobId={from} projectId={projectId} />
      )}
    </Page>
  );
}

/** Draws the editor with the program of a job. The job is read only once, so that the text does not change while the user edits it. */
function FromJob({ jobId, projectId }: { jobId: string; projectId: string }) {
  const found = useJob(jobId);
  const job = found.data?.job;
  return (
    <>
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {job !== undefined && <ProgramEditor initial={prettyJson(job.programJson)} projectId={projectId} />}
    </>
  );
}

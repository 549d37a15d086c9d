import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import {
  type GetStepResponse,
  type Job,
  type JobStep,
  JobsService,
  type StepArgument,
  type StepReceipt,
} from "@svc/gen/jobs";
import { type ToolCall, ToolsService } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, useId, useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { Button, buttonClass, IconButton } from "../../ui/buttons/button.tsx";
import { StepTile } from "../../ui/flow/step-tile.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { failureCodeWords, outcomeWord } from "../../words/calls.ts";
import { rowWord, stepNowWord, stepWord } from "../../words/jobs.ts";
import { sentence, visible } from "../../words/text.ts";
import { durationWords } from "../../words/time.ts";
import { rowWords } from "./job-words.ts";
import type { ListedStep } from "./program.ts";
import styles from "./step-drawer.module.css";
import { stepMs } from "./timeline-rows.ts";

const RetryDialog = laterPart(() => import("./retry-dialog.tsx"));

/** A part of a step that its drawer shows in place of the overview. */
type Part = "input" | "output" | "calls" | "rows";

type DrawerProps = {
  job: Job;
  projectId: string;
  listed: ListedStep;
  step: JobStep | undefined;
  receipt: StepReceipt | undefined;
};

/** Draws the side panel of one step of a job: what the step did, what it sent, what it produced, its calls and its rows. */
export default function StepDrawer({
  part,
  onChange,
  ...props
}: DrawerProps & {
  part: Part | undefined;
  onChange: (change: { step?: string | undefined; part?: Part | undefined; tab?: "log" | undefined }) => void;
}) {
  const { listed, step } = props;
  const id = useId();
  return (
    <section
      className={styles["drawer"]}
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.stopPropagation();
        onChange({ step: undefined, part: undefined });
      }}
    >
      <div className={styles["head"]}>
        <StepTile kind={listed.kind} tool={listed.tool} />
        <h2 id={id} className={styles["name"]}>
          <span className="visually-hidden">Step </span>
          {visible(listed.id)}
        </h2>
        <State word={step === undefined ? stepWord("waiting") : stepNowWord(step)} />
        <span className={styles["close"]}>
          <IconButton icon="cross" label="Close" onPress={() => onChange({ step: undefined, part: undefined })} />
        </span>
      </div>
      <p className={styles["says"]}>
        <bdi>{visible(saysOf(listed, step?.title ?? ""))}</bdi>
      </p>
      <Tabs
        label="Parts of the step"
        selected={part ?? "overview"}
        onSelect={(next) => onChange({ part: next === "overview" ? undefined : next })}
        tabs={[
          { id: "overview", words: "Overview", panel: <Overview {...props} onLog={() => onChange({ tab: "log" })} /> },
          { id: "input", words: "Input", panel: <Input {...props} /> },
          { id: "output", words: "Output", panel: <Output {...props} /> },
          { id: "calls", words: "Calls", panel: <StepCalls {...props} /> },
          { id: "rows", words: "Rows", panel: <Rows {...props} /> },
        ]}
      />
    </section>
  );
}

/** Returns what a step does in one line: its title, the user whose account it uses, and its condition. */
function saysOf({ entity, when }: ListedStep, title: string): string {
  const as = entity === "" ? "" : `, as ${entity}`;
  return `${title}${as}${when === "" ? "" : `, if ${when}`}`;
}

/** Draws what happened in a step: its errors, its rows by outcome, where its time went, and the next actions. */
function Overview({ onLog, ...props }: DrawerProps & { onLog: () => void }) {
  const { job, projectId, listed, step, receipt } = props;
  const all = receipt?.errors ?? [];
  // That rows failed is said by the error of their calls.
  const causes = all.filter(({ code }) => code !== "ROWS_FAILED");
  const errors = causes.length > 0 ? causes : all;
  const [isRetrying, setIsRetrying] = useState(false);
  const found = useStep(job.id, listed.id).data;
  const why = found === undefined ? "Loading" : found.canRetry ? undefined : sentence(found.retryWhy);
  return (
    <Stack>
      {errors.length > 0 && (
        <Section title="What went wrong">
          {errors.map(({ code, count, sample, failure }) => (
            <p key={code} className={styles["error"]}>
              <b title={code}>{failureCodeWords(code)}</b> {count > 1 && `× ${count} `}
              <bdi>{visible(failure?.title ?? sample)}</bdi>
            </p>
          ))}
        </Section>
      )}
      {receipt?.rows !== undefined && receipt.rows.in > 0 && (
        <Section title="Rows">
          <p>{step === undefined ? "" : rowWords(step, receipt)}</p>
        </Section>
      )}
      <Section title="Time">
        <Facts facts={timeFacts(step)} />
      </Section>
      <Line>
        <Button icon="replay" why={why} onPress={() => setIsRetrying(true)}>
          Retry from here
        </Button>
        {callCount(receipt) > 0 && (
          <Link
            to="/p/$projectId/calls"
            params={{ projectId }}
            search={{ job: job.id, step: listed.id }}
            className={buttonClass()}
          >
            Open calls
          </Link>
        )}
        <Button kind="quiet" onPress={onLog}>
          Show in the log
        </Button>
      </Line>
      <Suspense>
        {isRetrying && <RetryDialog job={job} fromStepId={listed.id} onClose={() => setIsRetrying(false)} />}
      </Suspense>
    </Stack>
  );
}

function timeFacts(step: JobStep | undefined): (readonly [string, ReactNode])[] {
  const { startedAt, finishedAt, attempts = 0 } = step ?? {};
  if (step === undefined || startedAt === undefined) return [["Started", "not yet"]];
  const took = finishedAt === undefined ? undefined : durationWords(stepMs(step, timestampMs(finishedAt)));
  return [
    ["Started", <Time key="started" at={startedAt} />],
    ["Took", took],
    ["Runs", attempts > 1 ? attempts : undefined],
  ];
}

function callCount(receipt: StepReceipt | undefined): number {
  const { read = 0, write = 0, destructive = 0 } = receipt?.calls ?? {};
  return read + write + destructive;
}

function RowCounts({ receipt: { rows } }: { receipt: StepReceipt }) {
  const shown = (
    [
      ["Succeeded", rows?.ok],
      ["Failed", rows?.failed],
      ["Skipped", rows?.skipped],
      ["Unknown", rows?.unknown],
    ] as const
  ).filter(([, count]) => count !== undefined && count > 0);
  return <Facts facts={shown.map(([name, count]) => [name, count?.toLocaleString("en")])} />;
}

/** Reads what GetStep returns about a step. */
function useStep(jobId: string, stepId: string) {
  return useQuery(JobsService.method.getStep, { jobId, stepId });
}

/** Draws a part of GetStep's answer, or why it is not there yet. */
function StepPart({
  of,
  children,
}: {
  of: ReturnType<typeof useStep>;
  children: (found: GetStepResponse) => ReactNode;
}) {
  return (
    <Stack>
      <FaultNotice error={of.error} onRetry={() => void of.refetch()} />
      {of.isPending && <Skeleton rows={4} />}
      {of.data !== undefined && children(of.data)}
    </Stack>
  );
}

/** Draws where each argument of a step comes from, with its type and length. Values of rows stay in the service. */
function Input({ job, listed }: DrawerProps) {
  return (
    <StepPart of={useStep(job.id, listed.id)}>
      {(found) =>
        found.arguments.length === 0 ? (
          <p>The step has no arguments.</p>
        ) : (
          <>
            <ul className={styles["values"]}>
              {found.arguments.map((one) => (
                <ArgumentLine key={`${one.callId} ${one.path}`} of={one} withCall={listed.calls.length > 1} />
              ))}
            </ul>
            <p className={styles["note"]}>Values of rows stay in svc. You see only where they come from.</p>
          </>
        )
      }
    </StepPart>
  );
}

function ArgumentLine({ of, withCall }: { of: StepArgument; withCall: boolean }) {
  const { callId, path, source, written, type, length } = of;
  const name = `${withCall ? `${callId} ` : ""}${path.slice(1).replaceAll("/", ".") || "all arguments"}`;
  return (
    <li className={styles["value"]}>
      <code className={styles["key"]}>{visible(name)}</code>
      <span className={styles["written"]}>
        {source !== "literal" && <span className={styles["source"]}>{sourceWords[source] ?? source}</span>}
        <code>
          <bdi>{visible(written)}</bdi>
        </code>
      </span>
      <span className={styles["took"]}>{shapeWords(type, length)}</span>
    </li>
  );
}

/** The word before a value that the program does not contain itself, by the source of the value. */
const sourceWords: Readonly<Record<string, string>> = {
  reference: "from",
  text: "text",
  expression: "computed",
  secret: "secret",
};

/** Returns the type of a value with its length, such as `text, 5 characters`. */
function shapeWords(type: string, length: number | undefined): string {
  if (length === undefined) return type;
  const unit = { text: "character", list: "item", object: "field" }[type] ?? "item";
  return `${type}, ${length.toLocaleString("en")} ${unit}${length === 1 ? "" : "s"}`;
}

/** Draws the form of what a step made: its paths and types, and in how many rows each is present. */
function Output({ job, listed }: DrawerProps) {
  return (
    <StepPart of={useStep(job.id, listed.id)}>
      {({ output, outputRows }) =>
        output.length === 0 ? (
          <p>The step has made no output, or the data of the job is deleted.</p>
        ) : (
          <>
            {outputRows > 0 && <p>{outputRows === 1 ? "1 row" : `The first ${outputRows} rows`} have these fields:</p>}
            <ul className={styles["values"]}>
              {output.map(({ path, types, count }) => (
                <li key={path} className={styles["value"]}>
                  <code className={styles["key"]}>{visible(path) || "value"}</code>
                  <span className={styles["written"]}>{types.join(" or ")}</span>
                  <span className={styles["took"]}>
                    {outputRows > 0 ? `in ${count} of ${outputRows}` : count > 1 && `× ${count}`}
                  </span>
                </li>
              ))}
            </ul>
            <p className={styles["note"]}>Values stay in svc. You see only their paths and types.</p>
          </>
        )
      }
    </StepPart>
  );
}

/** Draws the rows of a step with their states: those with an error, or else the first ones. */
function Rows({ job, listed, receipt }: DrawerProps) {
  return (
    <StepPart of={useStep(job.id, listed.id)}>
      {({ rows, hasMoreRows }) => (
        <>
          {receipt?.rows !== undefined && receipt.rows.in > 0 && <RowCounts receipt={receipt} />}
          {rows.length === 0 && <p>The step has no rows, or the data of the job is deleted.</p>}
          <ul className={styles["values"]}>
            {rows.map(({ ordinal, state, errorCode, message }) => (
              <li key={ordinal} className={styles["rowLine"]}>
                <span className={styles["took"]}>{ordinal + 1}</span>
                <State word={rowWord(state)} />
                <span className={styles["written"]}>
                  <bdi>{visible([errorCode, message].filter((part) => part !== "").join(": "))}</bdi>
                </span>
              </li>
            ))}
          </ul>
          {hasMoreRows && <p className={styles["note"]}>The step has more rows than are listed here.</p>}
        </>
      )}
    </StepPart>
  );
}

/** Draws the calls of the job that this step made, newest first. */
function StepCalls({ job, projectId, listed }: DrawerProps) {
  const list = useJobCalls(job.id, listed.id);
  return (
    <Stack>
      <ListStates list={list} empty={<p>The step has made no calls.</p>} skeletonRows={3}>
        <CallList calls={list.rows} projectId={projectId} />
      </ListStates>
      <LoadMore list={list} />
    </Stack>
  );
}

/** Reads the calls of a job, newest first. `stepId`: reads only the calls of this step. */
export function useJobCalls(jobId: string, stepId = "") {
  return useRows(ToolsService.method.listToolCalls, { jobId, stepId, pageSize: 200 }, ({ calls }) => calls);
}

/** Draws calls as lines with their tool, outcome, duration and link. */
export function CallList({
  calls,
  projectId,
  withStep = false,
}: {
  calls: readonly ToolCall[];
  projectId: string;
  withStep?: boolean;
}) {
  return (
    <ul className={styles["calls"]}>
      {calls.map(({ id, toolSlug, stepId, outcome, providerStatus, durationMs }) => (
        <li key={id} className={styles["call"]}>
          <Link to="/p/$projectId/calls/$callId" params={{ projectId, callId: id }} className={styles["tool"]}>
            {visible(toolSlug)}
          </Link>
          {withStep && <span className={styles["step"]}>{visible(stepId)}</span>}
          <State word={outcomeWord(outcome)} />
          <span className={styles["took"]}>
            {providerStatus > 0 && `${providerStatus}, `}
            {durationWords(durationMs)}
          </span>
        </li>
      ))}
    </ul>
  );
}

import { useQuery } from "@connectrpc/connect-query";
import { type ToolCall, ToolsService } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { KeyName } from "../../session/key-name.tsx";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { anyOf } from "../../ui/fields/choice.tsx";
import { SidePanel } from "../../ui/layout/split.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { AppNamed } from "../../ui/marks/tiles.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { callOutcomes, outcomeWord } from "../../words/calls.ts";
import { durationWords } from "../../words/time.ts";
import { labelOf } from "../../words/word.ts";
import { JobLink } from "../jobs/job-link.tsx";
import { CallBody } from "./call-body.tsx";
import { callsSearch } from "./filters.ts";

const calls = listPage({
  title: "Calls",
  method: ToolsService.method.listToolCalls,
  rows: "calls",
  params: callsSearch,
  isLive: ({ live }) => live !== "off",
  tabs: [
    { words: "All", sets: { tab: undefined, outcome: undefined } },
    { words: "Failed", sets: { tab: "failed", outcome: undefined } },
    { words: "Needs confirmation", sets: { tab: undefined, outcome: "held" } },
  ],
  filters: {
    tool: { typed: "Tool", placeholder: "Tool, such as calendar.list_events" },
    entity: { typed: "User", short: true },
    outcome: { choice: "Outcome", options: anyOf(callOutcomes.map(outcomeWord)), also: { tab: undefined } },
    range: { span: "Time" },
    job: ({ search, change }) => (
      <Only what="job" id={search.job} onClear={() => change({ job: undefined, step: undefined })} />
    ),
    step: ({ search, change }) => <Only what="step" id={search.step} onClear={() => change({ step: undefined })} />,
    account: ({ search, change }) => (
      <Only what="account" id={search.account} onClear={() => change({ account: undefined })} />
    ),
    live: { switch: "Live", off: "off" },
  },
  histogram: {
    series: "calls",
    counts: "Calls that ended",
    outcome: (outcome) => labelOf(outcomeWord(outcome)).toLowerCase(),
    of: ({ tool = "", tab, outcome }) => ({
      toolSlug: tool,
      has: (one) => (outcome === undefined || one === outcome) && (tab === undefined || !["ok", "held"].includes(one)),
    }),
    ignores: { entity: "user", job: "job", step: "step", account: "account" },
  },
  columns: ({ projectId }) => [
    {
      id: "tool",
      title: "Tool",
      width: "minmax(152px, 2fr)",
      linked: ({ toolSlug, toolTitle }) => <AppNamed slug={toolSlug}>{toolTitle || toolSlug}</AppNamed>,
    },
    { id: "glance", title: "First argument", width: "minmax(96px, 2fr)", drop: 1, cell: ({ glance }) => glance },
    {
      id: "outcome",
      title: "Outcome and cause",
      width: "minmax(160px, 3fr)",
      cell: ({ outcome, failure }) => (
        <span title={failure?.title}>
          <State word={outcomeWord(outcome)} /> {failure?.title}
        </span>
      ),
    },
    { id: "entity", title: "User", width: "minmax(64px, 1fr)", cell: ({ entityId }) => entityId },
    { id: "by", title: "By", width: "96px", cell: (call) => <By call={call} projectId={projectId} /> },
    { id: "took", title: "Took", width: "72px", drop: 2, cell: (call) => tookWords(call) },
    { id: "made", title: "Time", width: "128px", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  card: (call) => (
    <>
      <b>{call.toolSlug}</b>
      <Line apart>
        <State word={outcomeWord(call.outcome)} />
        <span>{call.entityId}</span>
        <Time at={call.createdAt} />
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({ to: "/p/$projectId/calls/$callId", params: { projectId, callId: id } }),
  panel: CallPanel,
  empty: NoCalls,
  noMatch: "No call matches",
});

/** Draws the tool calls of the project, newest first. If a call is open, its panel is next to the list. */
export default function CallsPage() {
  return <ListPage of={calls} />;
}

/** Draws who made a call: a job, or the key of a caller. */
function By({ call: { jobId, keyId }, projectId }: { call: ToolCall; projectId: string }) {
  return jobId === "" ? <KeyName id={keyId} /> : <JobLink projectId={projectId} id={jobId} />;
}

/** Draws a filter that a link set (for example the link on a job's page), with a button that removes the filter. */
function Only({ what, id, onClear }: { what: string; id: string | undefined; onClear: () => void }) {
  if (id === undefined) return null;
  return (
    <Button icon="cross" onPress={onClear}>
      Of {what} {id}
    </Button>
  );
}

/** Returns a call's duration; empty while it is under way. */
function tookWords({ outcome, durationMs }: ToolCall): string {
  return outcome === "running" ? "" : durationWords(durationMs);
}

function NoCalls({ projectId }: { projectId: string }) {
  return (
    <Empty icon="calls" title="No calls yet">
      <p>
        Every tool call is listed here.{" "}
        <Link to="/p/$projectId/tools" params={{ projectId }}>
          Try a tool
        </Link>
        , or make a call:
      </p>
      <CodeBlock text="npx svc call calendar.list_events --entity ada --arg calendar_id=primary" />
    </Empty>
  );
}

/** Draws the panel of one call next to the list. A phone has no room for a panel: there, a row links to the call's page. */
function CallPanel({ projectId, id, onClose }: { projectId: string; id: string; onClose: () => void }) {
  const call = useQuery(ToolsService.method.getToolCall, { id });
  const found = call.data?.call;
  if (useIsPhone()) return null;
  return (
    <SidePanel
      title={found?.toolSlug ?? id}
      onClose={onClose}
      link={
        <Link to="/p/$projectId/calls/$callId" params={{ projectId, callId: id }} className={buttonClass("quiet")}>
          Open page
        </Link>
      }
    >
      <Stack>
        <FaultNotice error={call.error} onRetry={() => void call.refetch()} />
        {call.isPending && <Skeleton rows={4} />}
        {found !== undefined && <CallBody projectId={projectId} call={found} />}
      </Stack>
    </SidePanel>
  );
}

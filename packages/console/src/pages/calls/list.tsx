import { useQuery } from "@connectrpc/connect-query";
import { type ToolCall, ToolsService } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { anyOf } from "../../ui/fields/choice.tsx";
import { SidePanel } from "../../ui/layout/split.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { callOutcomes, outcomeWord } from "../../words/calls.ts";
import { durationWords } from "../../words/time.ts";
import { CallBody } from "./call-body.tsx";
import { callsSearch } from "./filters.ts";

const calls = listPage({
  title: "Calls",
  method: ToolsService.method.listToolCalls,
  rows: "calls",
  params: callsSearch,
  isLive: ({ live }) => live !== "off",
  filters: {
    tool: { typed: "Tool", placeholder: "Tool, such as calendar.list_events" },
    entity: { typed: "User", short: true },
    outcome: { choice: "Outcome", options: anyOf(callOutcomes.map(outcomeWord)) },
    range: { span: "Time" },
    job: ({ search, change }) => <Only what="job" id={search.job} onClear={() => change({ job: undefined })} />,
    account: ({ search, change }) => (
      <Only what="account" id={search.account} onClear={() => change({ account: undefined })} />
    ),
    live: { switch: "Live", off: "off" },
  },
  columns: [
    { id: "made", title: "Time", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "tool", title: "Tool", width: "minmax(160px, 2fr)", cell: ({ toolSlug }) => <span>{toolSlug}</span> },
    { id: "outcome", title: "Outcome", width: "160px", cell: ({ outcome }) => <State word={outcomeWord(outcome)} /> },
    { id: "entity", title: "User", width: "minmax(72px, 1fr)", cell: ({ entityId }) => <span>{entityId}</span> },
    { id: "took", title: "Took", width: "80px", cell: (call) => tookWords(call) },
    { id: "by", title: "By", width: "64px", cell: ({ jobId }) => (jobId === "" ? "caller" : "job") },
    "id",
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

import { useQuery } from "@connectrpc/connect-query";
import { StatsService, Tone, type TraceResponse } from "@svc/gen/stats";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useNow } from "../clock.ts";
import { usePreferences } from "../shell/preferences.ts";
import { buttonClass } from "../ui/buttons/button.tsx";
import { Strip } from "../ui/flow/strip.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { withClockTimes } from "../words/time.ts";
import { missingWords, pageOfId, stripChips, type TraceChip, type TraceRemedy, whyOf } from "../words/trace.ts";

/**
 * The resource for which a page shows the trace strip (the chain of causes and effects). `state`: when it changes, the trace is read again.
 * `failure`: the page's own sentence about a failure, shown until the trace gives the reason; undefined if there is none to show.
 */
export type StripOf = { readonly id: string; readonly state: string; readonly failure: string | undefined };

/** Pauses in milliseconds before a trace is read again: while something in it is in progress, and while it only waits. */
const lookMs = { moving: 5_000, waiting: 15_000 };
const minuteMs = 60_000;

/**
 * Draws the trace strip of a resource: the path from its first cause to its effects. If the page names a failure, draws below it why the
 * resource failed, with a link that may solve the problem.
 */
export default function TraceStrip({ of: { id, state, failure }, projectId }: { of: StripOf; projectId: string }) {
  const { data, refetch } = useQuery(
    StatsService.method.trace,
    { id },
    { refetchInterval: ({ state: { data: trace } }) => lookMsOf(trace) },
  );
  const shownState = useRef(state);
  useEffect(() => {
    if (shownState.current === state) return;
    shownState.current = state;
    void refetch();
  }, [state, refetch]);
  const parts = data === undefined ? [] : stripChips(data).map((chip) => partOf(chip, projectId));
  return (
    <>
      <Strip label="Trace" parts={parts} missing={data === undefined ? "" : missingWords(data)} />
      {failure !== undefined && <Why failure={failure} trace={data} projectId={projectId} />}
    </>
  );
}

function lookMsOf(trace: TraceResponse | undefined): number | false {
  const tones = new Set(trace?.nodes.map(({ tone }) => tone));
  return tones.has(Tone.INFO) ? lookMs.moving : tones.has(Tone.WARN) ? lookMs.waiting : false;
}

function partOf({ node, callsOf, ...chip }: TraceChip, projectId: string) {
  const calls: LinkProps = { to: "/p/$projectId/calls", params: { projectId }, search: { job: callsOf } };
  return { ...chip, link: callsOf !== undefined ? calls : node && pageLink(node.id, projectId) };
}

function pageLink(id: string, projectId: string): LinkProps | undefined {
  return pageOfId(id, projectId) as LinkProps | undefined;
}

/** Draws why a resource failed. Until the trace is read, it shows the sentence that the page knows. */
function Why({ failure, trace, projectId }: { failure: string; trace: TraceResponse | undefined; projectId: string }) {
  const { zone } = usePreferences();
  const now = useNow(minuteMs);
  const why = trace && whyOf(trace);
  const link = why?.remedy && remedyLink(why.remedy, projectId);
  const action = why?.remedy && link && (
    <Link {...link} className={buttonClass("primary")}>
      {why.remedy.words}
    </Link>
  );
  return (
    <Notice tone="bad" title={withClockTimes(why?.title ?? failure, zone, now)} actions={action}>
      {why !== undefined && why.because !== "" && <p>Because: {withClockTimes(why.because, zone, now)}</p>}
    </Notice>
  );
}

function remedyLink(remedy: TraceRemedy, projectId: string): LinkProps | undefined {
  if ("id" in remedy) return pageLink(remedy.id, projectId);
  const params = { projectId };
  if ("list" in remedy) return { to: "/p/$projectId/accounts", params };
  return { to: "/p/$projectId/programs/new", params, search: { from: remedy.programOf } };
}

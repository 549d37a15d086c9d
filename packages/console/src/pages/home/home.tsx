import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type GetStartResponse, StatsService } from "@svc/gen/stats";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useLookMs } from "../../calls/live-state.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { Page } from "../../ui/layout/page.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Activity } from "./activity.tsx";
import { stepsDone, stepsMax } from "./first-steps.ts";

// Most visits of Home show the activity, so the first steps are loaded only if they are shown.
const Start = lazy(() => import("./start.tsx"));

const route = getRouteApi("/p/$projectId/home");

/** Draws Home: the first steps of a project that has used nothing yet, or else the activity of the project. */
export default function HomePage() {
  const { projectId } = route.useParams();
  const { view } = route.useSearch();
  const { hidesStart } = usePreferences();
  const method = StatsService.method.getStart;
  const start = useQuery(method, {}, { refetchInterval: useLookMs(method) });
  if (start.data === undefined)
    return (
      <Page title="Home">
        <FaultNotice error={start.error} onRetry={() => void start.refetch()} />
        {start.isLoading && <Skeleton rows={12} />}
      </Page>
    );
  const shown = view ?? (stepsDone(start.data) === 0 && !hidesStart ? "start" : "activity");
  if (shown === "start")
    return (
      <Suspense fallback={<Loading />}>
        <Start projectId={projectId} start={start.data} />
      </Suspense>
    );
  const { firstEventAt } = start.data;
  return (
    <Activity
      notes={!hidesStart && <Progress projectId={projectId} start={start.data} />}
      firstEventMs={firstEventAt && timestampMs(firstEventAt)}
    />
  );
}

/** Draws a line that says how many of the first steps are done, with a link to them. Draws nothing if all are done. */
function Progress({ projectId, start }: { projectId: string; start: GetStartResponse }) {
  const done = stepsDone(start);
  if (done === stepsMax) return null;
  return (
    <p>
      {done} of {stepsMax} first steps done.{" "}
      <Link to="/p/$projectId/home" params={{ projectId }} search={{ view: "start" }}>
        Continue
      </Link>
    </p>
  );
}

function Loading() {
  return (
    <Page title="Home">
      <Skeleton rows={12} />
    </Page>
  );
}

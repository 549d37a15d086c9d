import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type GetStartResponse, StatsService } from "@svc/gen/stats";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, useState } from "react";
import { useLookMs } from "../../calls/live-state.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { laterPart } from "../../ui/later-part.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Activity } from "./activity.tsx";
import { stepsDone, stepsMax } from "./first-steps.ts";

// Most visits of Home show the activity, so the first steps are loaded only if they are shown.
const Start = laterPart(() => import("./start.tsx"));

const route = getRouteApi("/p/$projectId/home");

/** Draws Home: the first steps of a project that has used nothing yet, or else the activity of the project. */
export default function HomePage() {
  const { projectId } = route.useParams();
  const method = StatsService.method.getStart;
  const start = useQuery(method, {}, { refetchInterval: useLookMs(method) });
  // The activity does not need the first steps, so a failure to read them hides no other part of the page.
  if (start.data === undefined && start.errorUpdateCount === 0) return <Loading />;
  const failure = <StartFailure error={start.error} onRetry={() => void start.refetch()} />;
  return <Home key={projectId} projectId={projectId} start={start.data} failure={failure} />;
}

type Face = "start" | "activity";

/** Draws Home with the answer about the first steps, or with the notice `failure` if there is none. */
function Home({
  projectId,
  start,
  failure,
}: {
  projectId: string;
  start: GetStartResponse | undefined;
  failure: ReactNode;
}) {
  const { view } = route.useSearch();
  const { hidesStart } = usePreferences();
  const first = useFirstFace(view, start !== undefined && stepsDone(start) === 0 ? "start" : "activity");
  const shown = view ?? (hidesStart ? "activity" : first);
  if (shown === "start" && start !== undefined)
    return (
      <Suspense fallback={<Loading />}>
        <Start projectId={projectId} start={start} />
      </Suspense>
    );
  const progress = start !== undefined && !hidesStart && <Progress projectId={projectId} start={start} />;
  return (
    <Activity
      notes={start === undefined ? failure : progress}
      firstEventMs={start?.firstEventAt && timestampMs(start.firstEventAt)}
    />
  );
}

/**
 * Returns the face of Home that was right when the page was opened with this `view` in its address. If a step is done later, for example by
 * an agent, the page then does not change under the reader.
 */
function useFirstFace(view: Face | undefined, face: Face): Face {
  const [first, setFirst] = useState({ view, face });
  if (first.view === view) return first.face;
  setFirst({ view, face });
  return face;
}

/** Draws why the first steps cannot be read. The last error stays while the page tries again, so that nothing moves. */
function StartFailure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const [last, setLast] = useState(error);
  if (error !== null && error !== last) setLast(error);
  return <FaultNotice error={error ?? last} onRetry={onRetry} />;
}

/**
 * Draws a line that says how many of the first steps are done, with a link to the others. Draws nothing if all were done before. The line
 * stays when the last step is done, so that nothing moves.
 */
function Progress({ projectId, start }: { projectId: string; start: GetStartResponse }) {
  const done = stepsDone(start);
  const [isNeeded] = useState(done < stepsMax);
  if (!isNeeded) return null;
  return (
    <p>
      {done} of {stepsMax} first steps done.{" "}
      {done < stepsMax && (
        <Link to="/p/$projectId/home" params={{ projectId }} search={{ view: "start" }}>
          Continue
        </Link>
      )}
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

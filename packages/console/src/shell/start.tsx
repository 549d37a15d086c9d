import { TransportProvider } from "@connectrpc/connect-query";
import { getRouteApi, Link, Navigate, useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { currentSession, seatFor, useSession } from "../session/session.ts";
import { SignInOverlay, SignInPage } from "../session/sign-in.tsx";
import { transportFor } from "../session/transport.ts";
import { Page } from "../ui/layout/page.tsx";
import { Empty } from "../ui/notice/empty.tsx";
import { Shell } from "./shell.tsx";

/**
 * Handles the console's start address: opens the first project that the user is signed in to. An administrator without a project gets the
 * administrator's pages. Without a session, shows the sign-in page.
 */
export function Start() {
  const session = useSession();
  const first = session?.seats.find((seat) => seat.role !== "admin");
  if (first === undefined && session !== undefined) return <Navigate to="/admin" replace />;
  if (first === undefined) return <SignInPage />;
  return <Navigate to="/p/$projectId" params={{ projectId: first.projectId }} replace />;
}

/** Draws the page that asks for a key of another project, adds the key to the session, and opens that project. */
export function AddSeat() {
  const navigate = useNavigate();
  const known = useRef(currentSession()?.seats.map(({ keyId }) => keyId) ?? []);
  const openNew = () => {
    const added = currentSession()?.seats.find(({ keyId }) => !known.current.includes(keyId));
    if (added === undefined) return void navigate({ to: "/" });
    if (added.role === "admin") return void navigate({ to: "/admin" });
    void navigate({ to: "/p/$projectId", params: { projectId: added.projectId } });
  };
  return (
    <SignInPage
      title="Add a key"
      says="With a key of another project, or with the administrator's token (SVC_ADMIN_TOKEN of the deployment). Other keys stay signed in."
      onEntered={openNew}
      back={known.current.length > 0 && <Link to="/">Back to the console</Link>}
    />
  );
}

/**
 * Draws the administrator's pages. Their calls use the administrator's seat (signed-in token). Without this seat, asks for the
 * administrator's token; the address does not change.
 */
export function AdminPages() {
  const session = useSession();
  if (session === undefined || seatFor(session, "admin") === undefined) {
    return (
      <SignInPage
        title="Administration"
        says="Sign in with the administrator's token of this deployment, SVC_ADMIN_TOKEN. Project keys don't work here."
      />
    );
  }
  return (
    <TransportProvider key="admin" transport={transportFor("admin")}>
      <Shell projectId="admin" />
      <SignInOverlay projectId="admin" />
    </TransportProvider>
  );
}

const route = getRouteApi("/p/$projectId");

/**
 * Shows the pages of a project. Their calls use the key for the project that the session has (its seat). Without such a key, this component
 * asks the user for a key of the project; the address does not change. If the key is lost while a page is open, the form appears in front
 * of the page. So the user's input on the page stays.
 */
export function ProjectPages() {
  const { projectId } = route.useParams();
  const session = useSession();
  const shown = useRef<string>(undefined);
  if (session === undefined) return <SignInPage />;
  if (seatFor(session, projectId) !== undefined) shown.current = projectId;
  if (shown.current !== projectId) {
    return (
      <SignInPage
        title="Another project"
        says={`This page belongs to project ${projectId}. Sign in with one of its keys. Other keys stay signed in.`}
      />
    );
  }
  return (
    <TransportProvider key={projectId} transport={transportFor(projectId)}>
      <Shell projectId={projectId} />
      <SignInOverlay projectId={projectId} />
    </TransportProvider>
  );
}

/** The page that is shown if the address belongs to no page of the console. */
export function NoPage() {
  return (
    <Page title="Page not found">
      <Empty icon="search" title="This address does not exist">
        <p>
          <Link to="/">Go to Home</Link>, or Ctrl K to search.
        </p>
      </Empty>
    </Page>
  );
}

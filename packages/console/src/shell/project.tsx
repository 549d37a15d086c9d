import { TransportProvider } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef } from "react";
import { seatFor, useSession } from "../session/session.ts";
import { SignInOverlay, SignInPage } from "../session/sign-in.tsx";
import { transportFor } from "../session/transport.ts";
import { Shell } from "./shell.tsx";

const route = getRouteApi("/p/$projectId");

/**
 * A project's pages, with calls made by its seat. Without a seat it asks for a key of the project, and the address stays; where the seat
 * is lost while a page is open, it asks over the page, so that what was typed stays, too.
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
        says={`This address is of project ${projectId}. Sign in with a key of it to see it; the other projects stay signed in.`}
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

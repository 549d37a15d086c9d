import { Link, Navigate, useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { currentSession, useSession } from "../session/session.ts";
import { SignInPage } from "../session/sign-in.tsx";

/** The console's own address: leads to the first project of the session, or to the administration where it has no other seat. */
export function Start() {
  const session = useSession();
  const first = session?.seats.find((seat) => seat.role !== "admin");
  if (first === undefined && session !== undefined) return <Navigate to="/admin" replace />;
  if (first === undefined) return <SignInPage />;
  return <Navigate to="/p/$projectId" params={{ projectId: first.projectId }} replace />;
}

/** Asks for a key of another project, beside those of the session, and leads to it. */
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
      title="Sign in once more"
      says="With a key of another project, or with the administrator's token (SVC_ADMIN_TOKEN of the deployment). What is signed in stays so."
      onEntered={openNew}
      back={known.current.length > 0 && <Link to="/">Back to the console</Link>}
    />
  );
}

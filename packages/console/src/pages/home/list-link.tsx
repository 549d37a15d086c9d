import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** The address of a list page with filters: its route, and its search parameters. */
export type ListAddress = { to: string; search: Record<string, string> };

/** Draws a link to a list with its filters. `list`: address of the list's page and its search parameters. */
export function ListLink({
  list: { to, search },
  projectId,
  className,
  children,
}: {
  list: ListAddress;
  projectId: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <Link
      to={to}
      params={{ projectId } as never}
      search={search as never}
      {...(className !== undefined && { className })}
    >
      {children}
    </Link>
  );
}

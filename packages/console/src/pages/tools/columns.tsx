import type { Tool } from "@svc/gen/catalog";
import { Link } from "@tanstack/react-router";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { classWord } from "../../words/calls.ts";

/** The columns of the list of tools. */
export function toolColumns(projectId: string): readonly Column<Tool>[] {
  return [
    {
      id: "tool",
      title: "Tool",
      width: "minmax(220px, 2fr)",
      cell: ({ slug }) => (
        <Link to="/p/$projectId/tools/$toolSlug" params={{ projectId, toolSlug: slug }}>
          {slug}
        </Link>
      ),
    },
    { id: "class", title: "Class", width: "120px", cell: ({ accessClass }) => <State word={classWord(accessClass)} /> },
    {
      id: "description",
      title: "What it does",
      width: "minmax(200px, 5fr)",
      cell: ({ description }) => <span title={description}>{description}</span>,
    },
  ];
}

/** A tool on a phone. */
export function toolCard({ slug, accessClass, description }: Tool) {
  return (
    <>
      <Line apart>
        <b>{slug}</b>
        <State word={classWord(accessClass)} />
      </Line>
      <span>{firstSentence(description)}</span>
    </>
  );
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

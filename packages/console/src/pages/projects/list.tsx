import { AdminService, type Project } from "@svc/gen/admin";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { projectCard, projectColumns } from "./columns.tsx";
import { CreateProjectDialog } from "./create-project-dialog.tsx";
import { HeldStore } from "./held-store.tsx";

const idOf = ({ id }: Project) => id;

/** Every project of the deployment, newest first. */
export default function ProjectsPage() {
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const list = useRows(AdminService.method.listProjects, { pageSize: 200 }, ({ projects }) => projects);
  return (
    <Page
      title="Projects"
      fill
      actions={
        <Button icon="plus" onPress={() => setCreating(true)}>
          Create a project
        </Button>
      }
      notes={<HeldStore />}
    >
      <ListStates
        list={list}
        isFiltered={false}
        empty={<Empty icon="project" title="No projects yet" />}
        noMatch={<NoMatch title="No project matches" onClear={list.reload} />}
      >
        <Grid
          label="Projects"
          columns={projectColumns()}
          card={projectCard}
          rows={list.rows}
          rowId={idOf}
          onOpen={({ id }) => void navigate({ to: "/admin/projects/$id", params: { id } })}
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
      {isCreating && <CreateProjectDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

import { AdminService } from "@svc/gen/admin";
import { useNavigate } from "@tanstack/react-router";
import { useRefresh } from "../../calls/refresh.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";

/** Creates a project and leads to its keys: without one nobody can use it. */
export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const refresh = useRefresh(AdminService);
  return (
    <WriteDialog
      method={AdminService.method.createProject}
      title="Create a project"
      fields={{
        name: {
          text: "Name",
          required: true,
          autoComplete: "off",
          hint: "1 to 100 characters, unique in the deployment. It begins with the default policy and a contact named owner.",
        },
      }}
      request={(values) => values}
      act="Create the project"
      busy="Creating"
      onClose={onClose}
      done={async ({ project }) => {
        await refresh();
        if (project !== undefined) void navigate({ to: "/admin/projects/$id", params: { id: project.id } });
      }}
    />
  );
}

import type { ServiceImpl } from "@connectrpc/connect";
import type { AdminService } from "@svc/gen/admin";

/** The methods of AdminService about jobs. */
export type JobAdministration = Pick<ServiceImpl<typeof AdminService>, "parkJob" | "releaseJob">;

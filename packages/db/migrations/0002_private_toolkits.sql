CREATE TABLE "private_toolkits" (
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"definition" text NOT NULL,
	"tool_count" integer NOT NULL,
	"origin_digest" "bytea" NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "private_toolkits_key" PRIMARY KEY("project_id","slug")
);
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "catalog_version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "private_toolkits" ADD CONSTRAINT "private_toolkits_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;
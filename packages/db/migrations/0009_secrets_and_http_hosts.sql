CREATE TABLE "secrets" (
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"value" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "secrets_key" PRIMARY KEY("project_id","name")
);
--> statement-breakpoint
ALTER TABLE "project_policies" ADD COLUMN "http_hosts" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;
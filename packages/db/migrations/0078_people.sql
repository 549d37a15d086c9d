CREATE TABLE "device_codes" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"user_digest" "bytea" NOT NULL,
	"client_name" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"voucher_key_id" uuid,
	"spent_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"role" text NOT NULL,
	"mail" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"spent_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "people" (
	"id" uuid PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"mail" text NOT NULL,
	"name" text NOT NULL,
	"is_administrator" boolean NOT NULL,
	"refresh" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	"signed_in_at" timestamp (3) with time zone NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "person_seats" (
	"person_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"given_role" text,
	CONSTRAINT "person_seats_key" PRIMARY KEY("person_id","project_id")
);
--> statement-breakpoint
CREATE TABLE "used_assertions" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "console_sessions" ADD COLUMN "person_id" uuid;--> statement-breakpoint
ALTER TABLE "console_sessions" ADD COLUMN "provider_session" text;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_seats" ADD CONSTRAINT "person_seats_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_seats" ADD CONSTRAINT "person_seats_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_seats" ADD CONSTRAINT "person_seats_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "device_codes_user" ON "device_codes" USING btree ("user_digest");--> statement-breakpoint
CREATE INDEX "device_codes_expires" ON "device_codes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "invitations_expires" ON "invitations" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "invitations_project" ON "invitations" USING btree ("project_id");--> statement-breakpoint
CREATE UNIQUE INDEX "people_subject" ON "people" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "people_checked" ON "people" USING btree ("checked_at") WHERE refresh is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "person_seats_of_key" ON "person_seats" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "person_seats_project" ON "person_seats" USING btree ("project_id","person_id");--> statement-breakpoint
CREATE INDEX "used_assertions_expires" ON "used_assertions" USING btree ("expires_at");--> statement-breakpoint
ALTER TABLE "console_sessions" ADD CONSTRAINT "console_sessions_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "console_sessions_person" ON "console_sessions" USING btree ("person_id") WHERE person_id is not null;
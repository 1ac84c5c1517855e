mod documents;
mod draft;
mod facts;
mod object;
mod property;
mod way;

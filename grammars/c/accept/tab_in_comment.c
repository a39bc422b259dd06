int a[3]; // a tab	here
